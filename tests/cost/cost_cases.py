"""A machine whose clocks are scripts, and what is measured on it."""

from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import Any

from packviz.lab.cost import Measurement, Setup, measure
from packviz.lab.cost.measuring import Stopwatch

__all__ = ["LENGTHS", "SMALL", "measured", "scripted"]

SMALL = Setup("gru", 2, 3)
LENGTHS = (4, 2, 1)


def scripted(seconds: Iterable[float], share: float = 1.0, load: float | None = 0.5, cores: int = 2) -> Stopwatch:
    """Return clocks by which the runs take these seconds, one after the other, then a second each.

    share: of each run, in which its thread has a processor.
    """
    clock, cpu = _ticks(seconds), 0.0
    times: list[float] = []

    def now() -> float:
        times.append(next(clock))
        return times[-1]

    def had() -> float:
        nonlocal cpu
        if len(times) % 2 == 0:
            cpu += share * (times[-1] - times[-2])
        return cpu

    return Stopwatch(now, had, lambda: load, cores)


def measured(padded: Iterable[float], packed: Iterable[float], setup: Setup = SMALL, **machine: Any) -> Measurement:
    """Return the measurement whose rounds took these ms; warm-up and fixed work take 5 ms."""
    rounds = list(zip(padded, packed, strict=True))
    script = chain([5.0] * 3, *((a, b, 5.0) for a, b in rounds))
    return measure(setup, LENGTHS, len(rounds), watch=scripted((ms / 1e3 for ms in script), **machine))


def _ticks(seconds: Iterable[float]) -> Iterator[float]:
    """Yield start and end of each run."""
    at = 0.0
    for lasts in chain(seconds, repeat(1.0)):
        yield at
        at += lasts
        yield at
