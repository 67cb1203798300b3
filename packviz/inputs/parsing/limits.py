"""How many sequences, and how many steps in each, a text may have where somebody sets a limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from packviz.errors import PackvizError
from packviz.inputs.parsing.record import place
from packviz.text import counted

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Hold the largest number of sequences, and of steps in a sequence; no limit unless one is given."""

    sequences: float = math.inf
    steps: float = math.inf

    def check_sequences(self, count: int, came: str = "") -> None:
        """Raise PackvizError for more sequences than the limit."""
        if count > self.sequences:
            raise _refusal(counted(int(self.sequences), "sequence"), came or str(count), "fewer sequences")

    def check_steps(self, count: int, came: str) -> None:
        """Raise PackvizError for more steps than the limit."""
        if count > self.steps:
            raise _refusal(f"{counted(int(self.steps), 'step')} in each sequence", came, "shorter sequences")

    def check(self, lengths: Sequence[int], lines: Sequence[int] | None) -> None:
        """Raise PackvizError where there are more sequences, or more steps in the longest, than the limits."""
        self.check_sequences(len(lengths))
        most = max(lengths, default=0)
        self.check_steps(most, f"{most} in {place(lengths.index(most), lines)}")


def _refusal(limit: str, came: str, less: str) -> PackvizError:
    mend = f"give {less}, or use packviz.Batch.parse in Python, which has no limit of its own"
    return PackvizError("text", expected=f"at most {limit}", came=came, mend=mend)
