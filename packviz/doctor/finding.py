"""What the doctor reports: what was found, where, what torch does with it, and the repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Literal

from packviz.batch import sequence_label

__all__ = ["Finding", "Severity", "counted", "listed", "places", "severity_of"]

Severity = Literal["error", "silent", "note"]

MOST_PLACES = 4
_HEADS: dict[Severity, str] = {"error": "Error", "silent": "Silently wrong", "note": "Note"}


@dataclass(frozen=True)
class Finding:
    """Hold one thing that is wrong, or worth knowing.

    key         what kind of thing, in one word
    severity    "error": torch raises, or would abort; "silent": torch goes wrong without a word; "note": worth knowing
    found       what came, with its numbers
    where       which sequence and time step, in words
    torch_does  what torch answered when it was asked just now, on as little of the batch as shows it
    repair      Python code that runs: it uses and sets the names that examine() has for its arguments
    sequences   b of the sequences concerned; timesteps: t in each of these, in the same order, or alone
    layer       the layer's name in the model that is watched; times: how often it came
    """

    key: str
    severity: Severity
    found: str
    where: str
    torch_does: str
    repair: str
    sequences: tuple[int, ...] = ()
    timesteps: tuple[int, ...] = ()
    layer: str | None = None
    times: int = 1

    def __str__(self) -> str:
        layer = "" if self.layer is None else f" in {self.layer or 'the model itself'}"
        often = "" if self.times == 1 else f" ({self.times} times)"
        return (
            f"{_HEADS[self.severity]}{layer}{often}: {self.found}\n  Where: {self.where}.\n"
            f"  torch {self.torch_does}.\n  Repair:\n{indent(self.repair, '    ')}"
        )


def severity_of(torch_does: str) -> Severity:
    """Return "error" where torch raises, "silent" where it goes on."""
    return "error" if torch_does.startswith("raises") else "silent"


def places(sequences: Sequence[int], timesteps: Sequence[int] = ()) -> str:
    """Return places in words, the first few of them.

    >>> places((1, 2), (3, 0))
    'sequence B at t = 3, sequence C at t = 0'
    """
    steps = [f" at t = {t}" for t in timesteps[:MOST_PLACES]] or [""] * MOST_PLACES
    named = [f"sequence {sequence_label(b)}{step}" for b, step in zip(sequences[:MOST_PLACES], steps, strict=False)]
    return ", ".join(named) + _more(len(sequences))


def listed(parts: Sequence[object]) -> str:
    """Return the first few of some things, and how many more there are.

    >>> listed([5, 4, 3, 2, 1, 1])
    '5, 4, 3, 2 and 2 more'
    """
    return ", ".join(str(part) for part in parts[:MOST_PLACES]) + _more(len(parts))


def counted(number: int, word: str) -> str:
    """Return a number with its word: "1 sequence", "3 sequences"."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _more(number: int) -> str:
    return f" and {number - MOST_PLACES} more" if number > MOST_PLACES else ""
