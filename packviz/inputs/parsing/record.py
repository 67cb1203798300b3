"""What parsing hands over: which kind of tokens a text holds, and the tokens, sequence by sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Kind", "Parsed", "ReadAs", "place"]

Kind = Literal["words", "numbers", "vectors"]
ReadAs = Literal["auto", "words", "numbers"]


@dataclass(frozen=True)
class Parsed:
    """Hold the tokens of a text, as they were typed.

    rows        one a sequence; vectors: the features of all its steps, one after the other
    features    vectors: F, so that a row has len * F tokens; else 1
    lines       the line of each sequence, if each stands on a line of its own; else None
    notes       what a reader should know of how the text was read, in sentences
    """

    kind: Kind
    rows: tuple[tuple[str, ...], ...]
    features: int = 1
    lines: Sequence[int] | None = None
    notes: tuple[str, ...] = ()

    @property
    def lengths(self) -> list[int]:
        """Return the number of steps of each sequence."""
        return [len(row) // self.features for row in self.rows]

    def place(self, b: int) -> str:
        """Return where sequence b stands."""
        return place(b, self.lines)


def place(b: int, lines: Sequence[int] | None) -> str:
    """Return where sequence b stands, as a reader counts: "line 3" or "sequence 2"."""
    return f"sequence {b + 1}" if lines is None else f"line {lines[b]}"
