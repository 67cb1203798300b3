"""Columns as JSON has them: one value where all are the same, runs where numbers grow evenly, else a list."""

from itertools import pairwise
from typing import Any

import numpy as np

from packviz.show.movie.layout import Column, short
from packviz.show.movie.marks import NONE

DIGITS = 3  # behind the point
NUMBERED = ("token", "vec")  # fields in which NONE stands for none
REPEATED = 3  # values from which a list is written once, wherever it is needed


class Columns:
    """The columns of a movie.

    A list that stands in several places is written once, in `shared`, and there its number stands, in a list of its
    own: no column is a list of one value.
    """

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}
        self._lists: list[tuple[list[Any], list[Any]]] = []  # of each its place, and what belongs there
        self._again: set[int] = set()

    def put(self, field: str, column: Column) -> Any:
        """Return a column of a field as JSON has it; a list is filled in when all of them are known."""
        if not isinstance(column, np.ndarray):
            return _one(field, column)
        values: list[Any] = column.tolist()
        if column.dtype.kind == "f":
            values = [int(each) if each % 1 == 0 else each for each in rounded(column).tolist()]
        elif field in NUMBERED and NONE in values:
            values = [None if each == NONE else each for each in values]
        if not values or values.count(values[0]) == len(values):
            return values[0] if values else None
        key = type(values[0]), *values
        if key not in self._known:
            self._known[key] = self._written(values)
        elif isinstance(found := self._known[key], list):
            self._again.add(found[0])
        return self._known[key]

    def shared(self) -> list[Any]:
        """Fill in the lists, and return those that stand in several places."""
        shared: list[Any] = []
        for number, (place, values) in enumerate(self._lists):
            if number in self._again and len(values) >= REPEATED:
                place[:] = [len(shared)]
                shared.append(values)
            else:
                place[:] = values
        return shared

    def _written(self, values: list[Any]) -> Any:
        if not isinstance(values[0], str | bool) and None not in values and (runs := _runs(values)):
            return {"runs": runs}
        place = [len(self._lists)]
        self._lists.append((place, values))
        return place


def rounded(column: np.ndarray) -> np.ndarray:
    """Return numbers with the digits that are shown, and anything else as it is."""
    return column.round(DIGITS) if column.dtype.kind == "f" else column


def _one(field: str, value: Any) -> Any:
    if isinstance(value, float):
        return short(value)
    return None if field in NUMBERED and value == NONE else value


def _runs(values: list[Any]) -> list[Any]:
    """Return numbers as runs that grow evenly, [first, step, how many, ...], where that is shorter; else nothing."""
    steps = [after - before for before, after in pairwise(values)]
    turns = [i for i, (one, other) in enumerate(pairwise(steps), 1) if not -1e-9 < other - one < 1e-9]
    most, last = 0.6 * len(values) - 1, len(steps)
    if 1.5 * len(turns) > most:
        return []
    runs: list[Any] = []
    start = 0
    for end in [*turns, last]:
        if start < end or end == last:
            step = steps[start] if start < end else 0
            runs += [values[start], step if isinstance(step, int) else round(step, 4), end - start + 1]
            start = end + 1
    return runs if len(runs) <= most else []
