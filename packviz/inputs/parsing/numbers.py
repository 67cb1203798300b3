"""Which tokens are numbers, and what to say of those that are not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from packviz.errors import PackvizError
from packviz.text import quoted

__all__ = ["AS_WORDS", "FLOAT32_END", "NUMBER", "are_numbers", "is_gap", "number_refusal"]

AS_WORDS = "have the text read as words"

# Possessive: what has been read is never tried again in another way, so that a long token takes linear time.
NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
FLOAT32_END = 2.0**128 - 2.0**103  # from here on, a number rounds to infinity in float32

_GAP = re.compile(r"[+-]?(?:nan|inf|infinity)|none|null|n/?a", re.IGNORECASE)


def are_numbers(tokens: Iterable[str]) -> bool:
    """Tell whether every token is a number, and finite in float32."""
    different = set(tokens)
    return all(map(NUMBER.fullmatch, different)) and max(map(abs, map(float, different)), default=0.0) < FLOAT32_END


def is_gap(token: str) -> bool:
    """Tell whether a token stands for a number that is missing or infinite: nan, inf, None, null."""
    return _GAP.fullmatch(token) is not None


def number_refusal(token: str, place: str, words_help: str) -> PackvizError:
    """Return the error for a token that is no number, or none that is finite in float32.

    `place` says where it stands; `words_help` how it could be read as a word.
    """
    came = f"{quoted(token)} {place}"
    if NUMBER.fullmatch(token):
        expected, mend = "numbers that are finite in float32 (below 3.4e38)", "write a smaller number there"
    elif is_gap(token):
        expected, mend = "finite numbers only", "write a number there, or leave it out"
    else:
        expected, mend = "a number", f"write a number there, or {words_help}"
    return PackvizError("text", expected=expected, came=came, mend=mend)
