"""How runs are timed: in turns, each alone with torch's switches, and with what the machine let us have of itself."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from statistics import median, quantiles

import torch

from packviz.compute.determinism import with_onednn
from packviz.lab.cost.setup import Setup

__all__ = ["LEAST_ROUNDS", "Lap", "Stopwatch", "Timing", "in_turns", "switches"]

LEAST_ROUNDS = 6  # fewer can all come out the same way by chance: once in 16 times or more

Around = Callable[[], AbstractContextManager[None]]
Work = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Hold the times of one kind of run, in ms and in the order of the runs; at least one."""

    times: tuple[float, ...]

    @property
    def median(self) -> float:
        """Return the ms that half of the runs stayed under."""
        return median(self.times)

    @property
    def low(self) -> float:
        """Return the lower quartile in ms."""
        return self._quartiles[0]

    @property
    def high(self) -> float:
        """Return the upper quartile in ms."""
        return self._quartiles[2]

    @property
    def fastest(self) -> float:
        """Return the ms of the fastest run: what a busy machine disturbs least."""
        return min(self.times)

    def overlaps(self, other: Timing) -> bool:
        """Return whether the middle halves of both have a time in common."""
        return self.low <= other.high and other.low <= self.high

    @property
    def _quartiles(self) -> list[float]:
        return quantiles(self.times, n=4, method="inclusive") if len(self.times) > 1 else [self.times[0]] * 3


@dataclass(frozen=True)
class Lap:
    """Hold the seconds of one run by the clock, and those in which its thread had a processor."""

    wall: float
    cpu: float


def _load() -> float | None:
    """Return how many tasks wanted a processor in the last minute, on average; None where nobody counts them."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


@dataclass(frozen=True)
class Stopwatch:
    """Hold the clocks of a measurement, so that a test can bring its own.

    clock, cpu   seconds gone by, and seconds in which this thread had a processor
    load, cores  how many tasks wanted a processor in the last minute (or None), and how many processors there are
    """

    clock: Callable[[], float] = time.perf_counter
    cpu: Callable[[], float] = time.thread_time
    load: Callable[[], float | None] = _load
    cores: int = os.cpu_count() or 1

    def lap(self, work: Work, around: Around, sync: Callable[[], None]) -> Lap:
        """Run the work once: entering `around` and freeing the result are not timed, waiting for the device is."""
        with around():
            sync()
            began, had = self.clock(), self.cpu()
            result = work()
            sync()
            done = Lap(self.clock() - began, self.cpu() - had)
            del result
        return done


def in_turns(
    works: Mapping[str, Work],
    rounds: int,
    *,
    around: Around,
    seconds: float | None = None,
    watch: Stopwatch,
    sync: Callable[[], None] = lambda: None,
) -> Iterator[dict[str, Lap]]:
    """Run all works in turns, A B A B, and yield the laps of each round; every work's first run does not count.

    It ends after `rounds` rounds, or once `seconds` are over and there were six rounds.
    """
    end = None if seconds is None else watch.clock() + seconds
    for work in works.values():
        watch.lap(work, around, sync)
    for number in range(rounds):
        if end is not None and number >= LEAST_ROUNDS and watch.clock() >= end:
            return
        yield {name: watch.lap(work, around, sync) for name, work in works.items()}


@contextmanager
def switches(setup: Setup) -> Iterator[None]:
    """Let torch compute as the setup says, and nobody else switch oneDNN or the threads meanwhile.

    Both belong to the whole process, and a trace switches oneDNN off while it runs: whoever waits for the other waits
    outside the measured time. It is held for one run only, so that others wait for milliseconds.
    """
    with with_onednn(setup.onednn), torch.set_grad_enabled(setup.backward), torch.autocast(setup.device, enabled=False):
        threads = torch.get_num_threads()
        try:
            if setup.threads not in (None, threads):
                torch.set_num_threads(setup.threads or threads)
            yield
        finally:
            if torch.get_num_threads() != threads:
                torch.set_num_threads(threads)
