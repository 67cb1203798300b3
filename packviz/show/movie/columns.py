"""Many records as few columns: a name is written once, and so is a value that all have in common."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

__all__ = ["grouped", "in_order"]

Record = Mapping[str, Any]
Block = dict[str, Any]  # of each field one value for all of its records, or a list with one for each

_LISTS = ("c", "vec", "from")  # always one for each: a list is a value here, or says how many records there are


def in_order(records: Iterable[Record]) -> list[Block]:
    """Return records as blocks without changing their order; n says how many records a block has."""
    runs = [list(run) for _, run in groupby(records, key=tuple)]
    return [_block(run) | {"n": len(run)} for run in runs]


def grouped(records: Iterable[Record]) -> list[Block]:
    """Return records that may come in any order as one block for each set of fields."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(tuple(record), []).append(record)
    return [_block(group) for group in groups.values()]


def _block(records: Sequence[Record]) -> Block:
    return {name: _column(name, [record[name] for record in records]) for name in records[0]}


def _column(name: str, values: list[Any]) -> Any:
    first = values[0]
    alike = name not in _LISTS and all(value == first for value in values)
    return first if alike else values
