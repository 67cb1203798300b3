"""measure(): the milliseconds of a batch padded and packed, on this machine, in turns, with their spread."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb

import torch
from torch import Tensor

from packviz.config import Cell
from packviz.cost.setup import Setup, build_rig, check_lengths, check_whole
from packviz.cost.strain import Strain, fixed_work, strain
from packviz.cost.timing import Lap, Stopwatch, Timing, in_turns, switches

__all__ = ["Measurement", "measure", "run_setup"]

MOST_CHANCE = 0.05


@dataclass(frozen=True)
class Measurement:
    """Hold the times of one batch, padded and packed, from runs in turns.

    padded     module(x)
    packed     pack, module and unpack
    alone      the module on what is packed already; None where that was not measured
    strain     whether the machine was busy
    planned    rounds that were asked for; fewer were made where the time was over
    finished   whether this is the last result, or a partial one
    """

    setup: Setup
    lengths: tuple[int, ...]
    padded: Timing
    packed: Timing
    alone: Timing | None
    strain: Strain
    planned: int
    finished: bool

    @property
    def fill(self) -> float:
        """Return which share of the padded grid is no padding: 0.0 to 1.0."""
        return sum(self.lengths) / (len(self.lengths) * max(self.lengths))

    @property
    def rounds(self) -> int:
        """Return how often each side was run."""
        return len(self.padded.times)

    @property
    def ratio(self) -> float:
        """Return packed ÷ padded, of the medians: above 1 packing is slower."""
        return self.packed.median / self.padded.median

    @property
    def differs(self) -> bool:
        """Return whether the measurement shows a difference between padded and packed.

        The middle halves of the times are apart, and so many rounds came out the same way that chance alone would do
        it in at most 5 % of such measurements (sign test); that takes six rounds.
        """
        return not self.padded.overlaps(self.packed) and _chance(self.padded.times, self.packed.times) <= MOST_CHANCE

    @property
    def busy(self) -> bool:
        """Return whether the machine was busy with something else."""
        return self.strain.busy


def measure(
    lengths: Tensor | Sequence[int],
    cell: Cell = "lstm",
    features: int = 64,
    hidden_size: int = 64,
    *,
    backward: bool = False,
    repeats: int = 21,
    num_layers: int = 1,
    bidirectional: bool = False,
    threads: int | None = None,
    onednn: bool = True,
    device: str = "cpu",
    seed: int = 0,
    seconds: float | None = None,
) -> Generator[Measurement, None, None]:
    """Yield what is known after each round; the last one is finished. Close the generator to stop.

    lengths: (B,), of the user's own batch. repeats: rounds. seconds: time after which no new round begins, once there
    are six. Raises PackvizError at once for what cannot be run or would be too much.
    """
    setup = Setup(cell, features, hidden_size, num_layers, bidirectional, backward, onednn, threads, device, seed)
    return run_setup(setup, lengths, repeats, seconds=seconds)


def run_setup(
    setup: Setup,
    lengths: Tensor | Sequence[int],
    repeats: int,
    *,
    seconds: float | None = None,
    alone: bool = True,
    watch: Stopwatch | None = None,
) -> Generator[Measurement, None, None]:
    """Yield the measurement of a setup round by round, as measure() does; without `alone` it has one work less."""
    check_whole("repeats", repeats)
    known = tuple(check_lengths(lengths))
    rig = build_rig(setup, known)
    works: dict[str, Callable[[], object]] = {"padded": rig.padded, "packed": rig.packed}
    if alone:
        works["alone"] = rig.alone
    clocks = Stopwatch() if watch is None else watch
    rounds = in_turns(
        works | {"fixed": fixed_work},
        repeats,
        around=partial(switches, setup),
        seconds=seconds,
        watch=clocks,
        sync=torch.cuda.synchronize if setup.device == "cuda" else _at_once,
    )
    return _results(partial(_result, setup, known, clocks, repeats), rounds)


def _results(
    result: Callable[[list[dict[str, Lap]], bool], Measurement], rounds: Iterator[dict[str, Lap]]
) -> Generator[Measurement, None, None]:
    done: list[dict[str, Lap]] = []
    for laps in rounds:
        if done:
            yield result(done, False)
        done.append(laps)
    yield result(done, True)


def _result(
    setup: Setup, lengths: tuple[int, ...], watch: Stopwatch, planned: int, done: list[dict[str, Lap]], finished: bool
) -> Measurement:
    def timing(name: str) -> Timing:
        return Timing(tuple(1e3 * laps[name].wall for laps in done))

    measured = [lap for laps in done for name, lap in laps.items() if name != "fixed"]
    seen = strain(measured, [laps["fixed"] for laps in done], watch, waits=setup.device != "cpu")
    alone = timing("alone") if "alone" in done[0] else None
    return Measurement(setup, lengths, timing("padded"), timing("packed"), alone, seen, planned, finished)


def _chance(padded: Sequence[float], packed: Sequence[float]) -> float:
    """Return how probable it is that rounds come out as one-sided as these where both sides are alike: up to 1.0."""
    apart = [b - a for a, b in zip(padded, packed, strict=True) if a != b]
    fewer = min(sum(difference > 0 for difference in apart), sum(difference < 0 for difference in apart))
    as_rare = sum(comb(len(apart), k) for k in range(fewer + 1))  # of the 2 ** rounds ways to come out
    return float(min(1.0, 2 * as_rare / 2 ** len(apart)))


def _at_once() -> None:
    """Wait for nothing: on the CPU all is done when the call returns."""
