"""Decoding: JSON from outside becomes records, and what does not fit is refused with the name of its field."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from classroom.state import RefusedError

T = TypeVar("T")

_PLACE = re.compile(r"(.*?)(?: - at `\$(.*)`)?", re.DOTALL)


def decoded(given: object, kind: type[T], what: str) -> T:
    """Return plain values as a record of a type; raises RefusedError, which names the field. what: the whole."""
    try:
        return msgspec.convert(given, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        field, problem = field_and_problem(error)
        raise RefusedError(400, f"{field or what}: {problem}.") from None


def field_and_problem(error: Exception) -> tuple[str, str]:
    """Return the field that an error of msgspec is about, such as `options[1]`, and what is wrong with it."""
    found = _PLACE.fullmatch(str(error))
    assert found is not None
    problem, field = found[1].rstrip("."), (found[2] or "").lstrip(".")
    return f"`{field}`" if field else "", (problem[:1].lower() + problem[1:]).replace("object ", "an object that ", 1)
