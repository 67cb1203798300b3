"""The entries of the questions run anew, as they are or changed, and batches as somebody types them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast

from packviz.teach.questions import ENTRIES, Entry, EntryResult, answer

__all__ = ["ALL", "UNEVEN", "asked", "changed", "told", "typed"]

ALL = {entry.key: entry for entry in ENTRIES}
UNEVEN = ([2, 1, 3], [1, 4, 2, 2], [3, 1, 5], [1, 2])  # lengths

answered = cache(answer)  # an entry that is run once for all tests that only read what it said


def asked(key: str, batch: str | None = None, **settings: Any) -> EntryResult:
    """Return what comes of an entry as it is, or with another batch or other settings of its config."""
    entry = ALL[key]
    if batch is None and not settings:
        return answered(entry)
    return answer(replace(entry, batch=batch or entry.batch, config=replace(entry.config, **settings)))


def changed(key: str, program: str, old: str, new: str) -> EntryResult:
    """Return what comes of an entry when a part of one of its programs is replaced; old "" replaces all of it."""
    entry = ALL[key]
    code = getattr(entry, program)
    assert old in code
    return answer(replace(entry, **cast(Any, {program: code.replace(old, new) if old else new})))


def told(done: EntryResult) -> str:
    """Return the explanation on one line."""
    return " ".join(done.explanation.split())


def typed(lengths: Sequence[int]) -> str:
    """Return what is typed for sequences of these lengths: 1 2 3 and on, each number once."""
    numbers = iter(range(1, 1 + sum(lengths)))
    return "\n".join(" ".join(str(next(numbers)) for _ in range(n)) for n in lengths)


def key_of(value: object) -> str:
    """Return the name of a test case."""
    return value.key if isinstance(value, Entry) else str(value).replace("\n", "/")[:40]
