"""Columns as JSON has them: one value where all are the same, runs where numbers grow evenly, else a list."""

from typing import Any

import numpy as np

from packviz.show.movie.marks import NONE

__all__ = ["plain", "runs", "shared"]

DIGITS = {"v": 4}  # behind the point; of all other fields three
NUMBERED = ("token", "vec")  # fields in which NONE stands for none
SHORT = 64  # values up to which a list is faster than numpy
REPEATED = 3  # values from which a list is written once, wherever it is needed


def plain(field: str, column: Any) -> Any:
    """Return a column of a field; a tuple of columns stands for a place: panel, x and y."""
    if isinstance(column, tuple):
        return [plain("x", each) for each in column]
    if not isinstance(column, np.ndarray):
        return _value(field, column)
    if _uniform(column):
        return _value(field, column[0])
    values = column.tolist()
    if column.dtype.kind == "f":
        digits = DIGITS.get(field, 3)
        return runs([int(each) if each.is_integer() else each for each in (round(each, digits) for each in values)])
    if field in NUMBERED and NONE in values:
        return [None if each == NONE else each for each in values]
    return runs(values) if column.dtype.kind == "i" else values


def runs(values: list[Any]) -> Any:
    """Return numbers as they are, or, where that is shorter, as runs that grow evenly: [first, step, how many, ...]."""
    found: list[Any] = []
    start, count = 0, len(values)
    while start < count:
        if len(found) + 4 > 0.6 * count:
            return values
        end, step = start + 1, 0
        if end < count:
            step = round(values[end] - values[start], 4)
            while end < count and abs(values[end - 1] + step - values[end]) < 1e-9:
                end += 1
        found += [values[start], step, end - start]
        start = end
    return {"runs": found}


def shared(groups: list[dict[str, Any]]) -> list[Any]:
    """Take the lists that groups have in common out of them; return them, by the numbers that now stand there."""
    seen: dict[tuple[Any, ...], int] = {}
    columns = [
        (group, field, tuple(column))
        for group in groups
        for field, column in group.items()
        if isinstance(column, list) and len(column) >= REPEATED
    ]
    for _, _, column in columns:
        seen[column] = seen.get(column, 0) + 1
    numbers = {column: i for i, column in enumerate(column for column, times in seen.items() if times > 1)}
    for group, field, column in columns:
        if column in numbers:
            group[field] = {"column": numbers[column]}
    return [list(column) for column in numbers]


def _uniform(column: np.ndarray) -> bool:
    if len(column) > SHORT:
        return bool((column == column[0]).all())
    values = column.tolist()
    return bool(values.count(values[0]) == len(values))


def _value(field: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        value = round(value, DIGITS.get(field, 3))
        return int(value) if value.is_integer() else value
    return None if value == NONE and field in NUMBERED else value
