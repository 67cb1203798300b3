"""Whether the machine was busy with something else while it was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from packviz.lab.cost.timing import Lap, Stopwatch

__all__ = ["Strain", "fixed_work", "strain"]

LEAST_SHARE = 0.9  # of a run's time, in which its thread has a processor on a quiet machine
MAX_LOAD = 1.25  # tasks for each processor: a measurement alone makes about one
MAX_SWING = 1.25  # of a fixed piece of work between its median and its fastest run


@dataclass(frozen=True)
class Strain:
    """Hold three signs of a busy machine.

    share   of the measured time, in which the measuring thread had a processor, 0.0 to 1.0; None on a GPU, where it
            only waits
    load    tasks that wanted a processor in the last minute, on average; None where nobody counts them
    cores   processors of the machine
    swing   how many times as long as its fastest run the median run of a fixed piece of work took: 1.0 and more
    """

    share: float | None
    load: float | None
    cores: int
    swing: float

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return what speaks for a busy machine, in parts of a sentence; () for a quiet one."""
        said = []
        if self.share is not None and self.share < LEAST_SHARE:
            said.append(f"the measuring thread had a processor for only {100 * self.share:.0f} % of the time")
        if self.load is not None and self.load / self.cores > MAX_LOAD:
            there = "the one processor" if self.cores == 1 else f"the {self.cores} processors"
            said.append(f"in the last minute {self.load:.1f} tasks at once wanted {there}")
        if self.swing > MAX_SWING:
            said.append(f"the same small piece of work took {self.swing:.1f} times as long as at its best")
        return tuple(said)

    @property
    def busy(self) -> bool:
        """Return whether anything speaks for a busy machine."""
        return bool(self.reasons)


def fixed_work() -> int:
    """Do a piece of work that is always the same, of a fraction of a millisecond, and without torch."""
    return sum(range(20_000))


def strain(laps: Sequence[Lap], fixed: Sequence[Lap], watch: Stopwatch, *, waits: bool = False) -> Strain:
    """Return the strain that the laps of a measurement show; at least one of each kind.

    laps: of what was measured. fixed: of the fixed piece of work. waits: whether the thread only waits for a device.
    """
    wall, fastest = sum(lap.wall for lap in laps), min(lap.wall for lap in fixed)
    share = None if waits or wall <= 0 else min(1.0, sum(lap.cpu for lap in laps) / wall)
    swing = median(lap.wall for lap in fixed) / fastest if fastest > 0 else 1.0
    return Strain(share, watch.load(), watch.cores, swing)
