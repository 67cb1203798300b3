"""measure(): the milliseconds of a batch padded and packed, on this machine, in turns, and what their spread shows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb

import torch
from torch import Tensor

from packviz.inputs.config import Cell
from packviz.lab.cost.lengths import check_lengths
from packviz.lab.cost.machine_load import Strain, fixed_work, strain
from packviz.lab.cost.setup import Setup, build_rig
from packviz.lab.cost.timing import LEAST_ROUNDS, Lap, Stopwatch, Timing, in_turns, switches
from packviz.text import percent
from packviz.validate import integer

__all__ = ["Measurement", "measure", "run_setup", "verdict"]

MAX_CHANCE = 0.05


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

        The interquartile ranges do not overlap, and a two-sided sign test gives p <= 0.05, which takes six rounds.
        """
        return not self.padded.overlaps(self.packed) and _chance(self.padded.times, self.packed.times) <= MAX_CHANCE

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
    integer("repeats", repeats, 1, mend="choose 1 or more")
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


def verdict(measurement: Measurement) -> str:
    """Return one sentence on padding and packing, computed from the numbers, and another where the machine was busy.

    "Here packing takes 2.0 times as long as padding (LSTM, fill 46 %)."
    """
    said = _sentence(measurement, _where(measurement))
    reasons = measurement.strain.reasons
    return f"{said} The machine was busy meanwhile: {'; '.join(reasons)}." if reasons else said


def _sentence(measurement: Measurement, where: str) -> str:
    padded, packed, ratio = measurement.padded, measurement.packed, measurement.ratio
    if measurement.rounds < LEAST_ROUNDS:
        runs = "1 run is" if measurement.rounds == 1 else f"{measurement.rounds} runs are"
        return f"{runs} too few to compare packing with padding ({where})."
    if not measurement.differs:
        middle = f"the middle half of the runs took {_range(padded)} padded and {_range(packed)} packed"
        return f"Here there is no difference that this measurement can show ({where}): {middle}."
    if ratio > 1:
        return f"Here packing takes {_times(ratio)} times as long as padding ({where})."
    return f"Here packing takes {min(100 * ratio, 99):.0f} % of the time that padding takes ({where})."


def _where(measurement: Measurement) -> str:
    setup = measurement.setup
    parts = [setup.name, f"fill {percent(measurement.fill)}"]
    if setup.backward:
        parts.append("forward with backward")
    if setup.device != "cpu":
        parts.append(f"on {setup.device.upper()}")
    elif not setup.onednn:
        parts.append("oneDNN off")
    return ", ".join(parts)


def _times(ratio: float) -> str:
    """Return 1.04, 1.3, 2.0: so many digits that it is not 1."""
    return f"{ratio:.1f}" if ratio >= 1.1 else f"{max(ratio, 1.01):.2f}"


def _range(timing: Timing) -> str:
    return f"{timing.low:.3g} to {timing.high:.3g} ms"
