"""What a rule reports: what was found, where, what torch does with it, and the repair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Literal, TypeVar

from packviz.errors import PackvizError
from packviz.inputs.torch_answers import Answer
from packviz.text import sequence_label

__all__ = ["Finding", "Severity", "places", "raise_first", "refused"]

Severity = Literal["error", "silent", "note"]
Result = TypeVar("Result")

MAX_PLACES = 4
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
    error       what trace_module() raises where it finds this; None where it goes on
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
    error: PackvizError | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        layer = "" if self.layer is None else f" in {self.layer or 'the model itself'}"
        often = "" if self.times == 1 else f" ({self.times} times)"
        return (
            f"{_HEADS[self.severity]}{layer}{often}: {self.found}\n  Where: {self.where}.\n"
            f"  torch {self.torch_does}.\n  Repair:\n{indent(self.repair, '    ')}"
        )


def refused(
    key: str,
    parameter: str,
    answer: Answer[Result],
    *,
    expected: str,
    got: str,
    fix: str,
    repair: str,
    where: str = "",
    silently: str | Callable[[Result], str] = "takes it without a word",
    severity: Severity | None = None,
    sequences: Sequence[int] = (),
    timesteps: Sequence[int] = (),
) -> Finding:
    """Return the finding for what trace_module() refuses, with the error that it raises.

    answer    torch's own, for this very input; silently: what it does where it raises nothing
    severity  None for the answer's own
    """
    does = answer.does(silently)
    came = got if answer.error else f"{got} (torch {does})"
    error = PackvizError(parameter, expected=expected, came=came, mend=fix, torch_says=answer.message)
    found = f"{parameter.removeprefix('x.')}: expected {expected}, but got {got}."
    kind, at = severity or answer.severity, where or parameter
    return Finding(key, kind, found, at, does, repair, tuple(sequences), tuple(timesteps), error=error)


def raise_first(findings: Iterable[Finding]) -> None:
    """Raise the error of the first finding that has one."""
    for finding in findings:
        if finding.error is not None:
            raise finding.error


def places(sequences: Sequence[int], timesteps: Sequence[int] = ()) -> str:
    """Return places in words, the first few of them.

    >>> places((1, 2), (3, 0))
    'sequence B at t = 3, sequence C at t = 0'
    """
    steps = [f" at t = {t}" for t in timesteps[:MAX_PLACES]] or [""] * MAX_PLACES
    named = [f"sequence {sequence_label(b)}{step}" for b, step in zip(sequences[:MAX_PLACES], steps, strict=False)]
    return ", ".join(named) + _more(len(sequences))


def _more(number: int) -> str:
    return f" and {number - MAX_PLACES} more" if number > MAX_PLACES else ""
