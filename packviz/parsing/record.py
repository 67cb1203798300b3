"""What parsing hands over: which kind of tokens a text holds, and the tokens, sequence by sequence."""

from __future__ import annotations

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
    first_line  where the first sequence stands, if each stands on a line of its own; else None
    """

    kind: Kind
    rows: tuple[tuple[str, ...], ...]
    features: int = 1
    first_line: int | None = None

    @property
    def lengths(self) -> list[int]:
        """Return the number of steps of each sequence."""
        return [len(row) // self.features for row in self.rows]

    def place(self, b: int) -> str:
        """Return where sequence b stands."""
        return place(b, self.first_line)


def place(b: int, first_line: int | None) -> str:
    """Return where sequence b stands, as a reader counts: "line 3" or "sequence 2"."""
    return f"sequence {b + 1}" if first_line is None else f"line {first_line + b}"
