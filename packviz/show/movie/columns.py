"""Columns as JSON has them: one value where all are the same, runs where numbers grow evenly, else a list."""

from typing import Any

import numpy as np

from packviz.show.movie.marks import NONE

__all__ = ["plain", "runs", "shared", "values", "written"]

DIGITS = {"v": 4}  # behind the point; of all other fields three
NUMBERED = ("token", "vec")  # fields in which NONE stands for none
REPEATED = 3  # values from which a list is written once, wherever it is needed


def plain(field: str, column: Any) -> Any:
    """Return a column of a field as JSON has it."""
    if isinstance(column, np.ndarray):
        return written(values(field, column))
    if isinstance(column, float | np.floating):
        column = round(float(column), DIGITS.get(field, 3))
        return int(column) if column.is_integer() else column
    if isinstance(column, np.generic):
        column = column.item()
    return None if field in NUMBERED and column == NONE else column


def values(field: str, column: np.ndarray) -> list[Any]:
    """Return the values of a field, rounded as they are shown, numbers without a fraction as integers."""
    if column.dtype.kind == "f":
        rounded = column.round(DIGITS.get(field, 3)).tolist()
        return [int(each) if each.is_integer() else each for each in rounded]
    found: list[Any] = column.tolist()
    if field in NUMBERED and NONE in found:
        return [None if each == NONE else each for each in found]
    return found


def written(found: list[Any]) -> Any:
    """Return values as JSON has them: one where all are the same, runs where that is shorter, else a list."""
    first = found[0]
    if found.count(first) == len(found):
        return first
    return found if isinstance(first, str | bool) or None in found else runs(found)


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
