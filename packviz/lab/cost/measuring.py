"""measure(): the time of a batch padded and packed, in alternating runs on this machine, and what its spread shows."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from math import comb
from statistics import median, quantiles
from typing import NamedTuple

from torch import Tensor

from packviz.lab import sentence
from packviz.lab.cost.counting import check_lengths
from packviz.lab.cost.setup import Planned, Setup, Work, switches, works
from packviz.text import counted, percent
from packviz.validate import integer

__all__ = ["LEAST_ROUNDS", "Measurement", "Timing", "measure", "sweep", "verdict", "wins_and_losses"]

LEAST_ROUNDS = 6  # with fewer rounds even a unanimous result has p > 0.05
MAX_CHANCE = 0.05

# Limits beyond which the machine counts as busy with something else
LEAST_SHARE = 0.9  # the share of a run's time in which its thread has a processor
MAX_LOAD = 1.25  # load average per processor: a measurement alone causes about one
MAX_SWING = 1.25  # the median time of a fixed workload ÷ its fastest

Around = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Timing:
    """The times of one kind of run, in ms and in the order of the runs; at least one."""

    times: tuple[float, ...]

    @cached_property
    def quartiles(self) -> list[float]:
        """Return the lower quartile, the median and the upper quartile in ms."""
        return quantiles(self.times, n=4, method="inclusive") if len(self.times) > 1 else [self.times[0]] * 3

    @property
    def median(self) -> float:
        """Return the median in ms."""
        return self.quartiles[1]


class Lap(NamedTuple):
    """The seconds of one run by the clock, and its thread's CPU seconds."""

    wall: float
    cpu: float


def load_average() -> float | None:
    """Return the load average of the last minute; None on systems without one."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


@dataclass(frozen=True)
class Stopwatch:
    """The clocks of a measurement, which a test can replace."""

    clock: Callable[[], float] = time.perf_counter  # elapsed seconds
    cpu: Callable[[], float] = time.thread_time  # CPU seconds of this thread
    load: Callable[[], float | None] = load_average  # the load average of the last minute, or None
    cores: int = os.cpu_count() or 1

    def lap(self, work: Work, around: Around) -> Lap:
        """Run the work once. Entering `around` and freeing the result are not timed."""
        with around():
            began, had = self.clock(), self.cpu()
            result = work()
            done = Lap(self.clock() - began, self.cpu() - had)
            del result
        return done


def in_turns(
    all_works: Mapping[str, Work], rounds: int, *, around: Around, seconds: float | None = None, watch: Stopwatch
) -> Iterator[dict[str, Lap]]:
    """Run all works alternately, A B A B, and yield the laps of each round; the first run of each is a warm-up.

    It ends after `rounds` rounds, or once `seconds` have passed and six rounds are done.
    """
    end = None if seconds is None else watch.clock() + seconds
    for work in all_works.values():
        watch.lap(work, around)
    for number in range(rounds):
        if end is not None and number >= LEAST_ROUNDS and watch.clock() >= end:
            return
        yield {name: watch.lap(work, around) for name, work in all_works.items()}


def busy_reasons(laps: Sequence[Lap], fixed: Sequence[Lap], watch: Stopwatch) -> tuple[str, ...]:
    """Return why the machine seems to have been busy with something else, as parts of a sentence; () if it was not.

    laps: of the measured runs, or () if the thread only waits for a device. fixed: at least one, of a fixed workload.
    """
    wall, walls = sum(lap.wall for lap in laps), [lap.wall for lap in fixed]
    share = sum(lap.cpu for lap in laps) / wall if wall > 0 else 1.0
    load = watch.load() or 0.0
    swing = median(walls) / min(walls) if min(walls) > 0 else 1.0
    signs = {
        f"the measuring thread had a processor for only {100 * share:.0f}% of the time": share < LEAST_SHARE,
        f"the load average was {load:.1f} on {counted(watch.cores, 'processor')}": load / watch.cores > MAX_LOAD,
        f"a fixed piece of work took {swing:.1f} times its best time": swing > MAX_SWING,
    }
    return tuple(words for words, seen in signs.items() if seen)


@dataclass(frozen=True)
class Measurement:
    """The times of one batch, padded and packed, from alternating runs."""

    setup: Setup
    lengths: tuple[int, ...]
    padded: Timing  # module(x)
    packed: Timing  # pack, module and unpack
    reasons: tuple[str, ...]  # why the machine seems to have been busy with something else; () if it was not

    @property
    def fill(self) -> float:
        """Return the share of the padded grid that holds tokens: 0.0 to 1.0."""
        return sum(self.lengths) / (len(self.lengths) * max(self.lengths))

    @property
    def rounds(self) -> int:
        """Return how many times each side was run."""
        return len(self.padded.times)

    @property
    def ratio(self) -> float:
        """Return the ratio of the medians, packed ÷ padded: above 1 packing is slower."""
        return self.packed.median / self.padded.median

    @property
    def differs(self) -> bool:
        """Return whether the measurement shows a difference between padded and packed.

        That is, the interquartile ranges do not overlap, and a two-sided sign test gives p <= 0.05 (from six rounds).
        """
        (low, _, high), (other_low, _, other_high) = self.padded.quartiles, self.packed.quartiles
        overlap = low <= other_high and other_low <= high
        return not overlap and _sign_test(self.padded.times, self.packed.times) <= MAX_CHANCE

    @property
    def busy(self) -> bool:
        """Return whether the machine was busy with something else."""
        return bool(self.reasons)


def measure(
    setup: Setup,
    lengths: Tensor | Sequence[int],
    repeats: int = 21,
    *,
    seconds: float | None = None,
    watch: Stopwatch | None = None,
) -> Measurement:
    """Measure a batch of lengths (B,), padded and packed alternately, for `repeats` rounds.

    seconds: time after which no new round begins, once there are six. Raises PackvizError for an invalid setup and for
    a batch that exceeds the limits of one run.
    """
    repeats = integer("repeats", repeats, 1, fix="choose 1 or more")
    known, clocks, around = tuple(check_lengths(lengths).tolist()), watch or Stopwatch(), partial(switches, setup)
    each_work = {**works(setup, known), "fixed": lambda: sum(range(20_000))}
    laps = list(in_turns(each_work, repeats, around=around, seconds=seconds, watch=clocks))
    padded, packed, fixed = ([lap[name] for lap in laps] for name in ("padded", "packed", "fixed"))
    reasons = busy_reasons([*padded, *packed] if setup.device == "cpu" else (), fixed, clocks)
    first, second = (Timing(tuple(1e3 * lap.wall for lap in side)) for side in (padded, packed))
    return Measurement(setup, known, first, second, reasons)


def sweep(
    planned: Iterable[Planned], *, repeats: int = 7, seconds: float = 0.2, watch: Stopwatch | None = None
) -> Iterator[Measurement]:
    """Measure each of the planned batches in order; repeats and seconds as in ``measure``."""
    for setup, lengths in planned:
        yield measure(setup, lengths, repeats, seconds=seconds, watch=watch)


def _sign_test(padded: Sequence[float], packed: Sequence[float]) -> float:
    """Return the p-value of a two-sided sign test: how probable a result this one-sided is if both sides are equal."""
    slower = [a < b for a, b in zip(padded, packed, strict=True) if a != b]
    fewer = min(slower.count(True), slower.count(False))
    as_rare = sum(comb(len(slower), k) for k in range(fewer + 1))  # of the 2 ** rounds possible outcomes
    return float(min(1.0, 2 * as_rare / 2 ** len(slower)))


def wins_and_losses(done: Sequence[Measurement]) -> tuple[int, int]:
    """Return how many measurements show that packing is faster, and how many that it is slower."""
    differing = [each.ratio for each in done if each.differs]
    return sum(ratio < 1 for ratio in differing), sum(ratio > 1 for ratio in differing)


def verdict(measurement: Measurement) -> str:
    """Return one sentence on padding and packing, computed from the numbers, and another if the machine was busy.

    "Here packing takes 2.0 times as long as padding (LSTM forward, fill 46%)."
    """
    if measurement.rounds < LEAST_ROUNDS:
        said = "too_few"
    else:
        said = "no_difference" if not measurement.differs else "slower" if measurement.ratio > 1 else "faster"
    padded, packed = ("{0:.3g} to {2:.3g}".format(*side.quartiles) for side in (measurement.padded, measurement.packed))
    ratio = measurement.ratio
    return sentence(
        f"cost.{said}",
        *(["cost.busy"] if measurement.busy else []),
        rounds=measurement.rounds,
        setup=measurement.setup.description,
        fill=percent(measurement.fill),
        padded=padded,
        packed=packed,
        times=f"{ratio:.1f}" if ratio >= 1.1 else f"{max(ratio, 1.01):.2f}",  # never 1
        share=f"{min(100 * ratio, 99):.0f}",
        reasons=measurement.reasons,
    )
