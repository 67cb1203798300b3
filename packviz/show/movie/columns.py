"""Columns as JSON has them: one value where all are the same, runs where numbers grow evenly, else a list."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from packviz.show.movie.marks import NONE

__all__ = ["plain", "rounded", "shared", "values", "written"]

DIGITS = 3  # behind the point; numbers that are shown, `v`, are in ten-thousandths
NUMBERED = ("token", "vec")  # fields in which NONE stands for none
REPEATED = 3  # values from which a list is written once, wherever it is needed


def plain(field: str, column: Any) -> Any:
    """Return a column of a field as JSON has it."""
    if isinstance(column, np.ndarray):
        return written(values(field, rounded(field, column)))
    if isinstance(column, float | np.floating):
        return values(field, rounded(field, np.array([column])))[0]
    if isinstance(column, np.generic):
        column = column.item()
    return None if field in NUMBERED and column == NONE else column


def rounded(field: str, column: np.ndarray) -> np.ndarray:
    """Return numbers with the digits that are shown, those of `v` in ten-thousandths; anything else as it is."""
    if column.dtype.kind != "f":
        return column
    return np.rint(1e4 * column) if field == "v" else column.round(DIGITS)


def values(field: str, column: np.ndarray) -> list[Any]:
    """Return the values of a rounded column, numbers without a fraction as integers."""
    if column.dtype.kind == "f":
        return [int(each) if each.is_integer() else each for each in column.tolist()]
    found: list[Any] = column.tolist()
    if field in NUMBERED and NONE in found:
        return [None if each == NONE else each for each in found]
    return found


def written(found: list[Any]) -> Any:
    """Return values as JSON has them: one where all are the same, runs where that is shorter, else a list."""
    first = found[0] if found else None
    if found.count(first) == len(found):
        return first
    return found if isinstance(first, str | bool) or None in found else _runs(found)


def _runs(values: list[Any]) -> Any:
    """Return numbers as they are, or, where that is shorter, as runs that grow evenly: [first, step, how many, ...]."""
    found: list[Any] = []
    start, count = 0, len(values)
    most = 0.6 * count - 4
    while start < count:
        if len(found) > most:
            return values
        first = last = values[start]
        end, step = start + 1, 0
        if end < count:
            step = round(values[end] - first, 4)
            while end < count and -1e-9 < last + step - values[end] < 1e-9:
                last = values[end]
                end += 1
        found += [first, step, end - start]
        start = end
    return {"runs": found}


def shared(places: Iterable[tuple[Any, Any]]) -> list[Any]:
    """Take the lists that stand in several of these places out of them, and return them.

    places: containers, and where in them a column may stand. Instead of a list its number stands there, in a list of
    its own: no column is a list of one value.
    """
    known: dict[tuple[Any, ...], list[tuple[Any, Any]]] = {}
    for container, key in places:
        column = container[key]
        if isinstance(column, list) and len(column) >= REPEATED:
            known.setdefault((*column, type(column[0])), []).append((container, key))
    repeated = [(column[:-1], there) for column, there in known.items() if len(there) > 1]
    for number, (_, there) in enumerate(repeated):
        for container, key in there:
            container[key] = [number]
    return [list(column) for column, _ in repeated]
