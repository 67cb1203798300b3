"""What parsing hands over: the tokens of a text, sequence by sequence; and which tokens are numbers."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from packviz.errors import PackvizError
from packviz.text import quoted

Kind = Literal["words", "numbers", "vectors"]
ReadAs = Literal["auto", "words", "numbers"]

AS_WORDS = "have the text read as words"

# Possessive: what has been read is never tried again in another way, so that a long token takes linear time.
NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_GAP = re.compile(r"[+-]?(?:nan|inf|infinity)|none|null|n/?a", re.IGNORECASE)
_FLOAT32_END = 2.0**128 - 2.0**103  # from here on, a number rounds to infinity in float32


@dataclass(frozen=True)
class Parsed:
    """Hold the tokens of a text, as they were typed."""

    kind: Kind
    rows: tuple[tuple[str, ...], ...]  # one a sequence; vectors: the features of all its steps, one after the other
    features: int = 1  # vectors: F, so that a row has len * F tokens; else 1
    lines: Sequence[int] | None = None  # the line of each sequence, if each stands on a line of its own; else None
    notes: tuple[str, ...] = ()  # what a reader should know of how the text was read, in sentences

    @property
    def lengths(self) -> list[int]:
        """Return the number of steps of each sequence."""
        return [len(row) // self.features for row in self.rows]

    def place(self, b: int) -> str:
        """Return where sequence b stands, as a reader counts: "line 3" or "sequence 2"."""
        return f"sequence {b + 1}" if self.lines is None else f"line {self.lines[b]}"


def are_numbers(tokens: Iterable[str]) -> bool:
    """Tell whether every token is a number, and finite in float32."""
    different = set(tokens)
    return all(map(NUMBER.fullmatch, different)) and max(map(abs, map(float, different)), default=0.0) < _FLOAT32_END


def is_gap(token: str) -> bool:
    """Tell whether a token stands for a number that is missing or infinite: nan, inf, None, null."""
    return _GAP.fullmatch(token) is not None


def number_refusal(token: str, place: str, words_help: str) -> PackvizError:
    """Return the error for a token that is not a number, or not finite in float32.

    `place` says where it stands; `words_help` how it could be read as a word.
    """
    if NUMBER.fullmatch(token):
        expected, fix = "numbers that are finite in float32 (below 3.4e38)", "write a smaller number there"
    elif is_gap(token):
        expected, fix = "finite numbers only", "write a number there, or leave it out"
    else:
        expected, fix = "a number", f"write a number there, or {words_help}"
    return PackvizError("text", expected=expected, got=f"{quoted(token)} {place}", fix=fix)
