"""Recorded runs of the experiments, read from files, and their results in a sentence or two."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from packviz.lab import sentence
from packviz.lab.cost import LEAST_ROUNDS, Measurement, Planned, Setup, Timing, wins_and_losses
from packviz.lab.training import EpochResult, Experiment, Outcome, both_spreads, shows_difference, summary
from packviz.lab.training.results import by_padding
from packviz.text import counted

__all__ = ["CostRecording", "Made", "TrainingRecording", "batch_takes", "cost", "cost_caveat", "cost_headline"]
__all__ += ["machine", "small_run", "sweep_takes", "training", "training_caveat", "training_headline", "training_takes"]

EPOCH = ("train_loss", "test_accuracy", "seconds")  # the fields recorded per epoch
DATA = Path(__file__).with_name("data")


@dataclass(frozen=True)
class Made:
    """When, where and with what something was recorded."""

    date: str  # as 2026-11-22
    seconds: float  # of the whole run, by the clock
    cpu_seconds: float  # CPU time: what it takes on an otherwise idle machine
    cpu: str
    cores: int
    load: list[float]  # the 1-minute load averages before and after it; empty on systems without one
    threads: int  # of torch's CPU work
    python: str
    torch: str

    @property
    def day(self) -> str:
        """Return the date in prose: "22 November 2026"."""
        day = date.fromisoformat(self.date)
        return f"{day.day} {day:%B %Y}"


@dataclass(frozen=True)
class TrainingRecording:
    """Recorded trainings with all their epochs."""

    made: Made
    results: tuple[EpochResult, ...]

    def of(self, cell: str) -> tuple[EpochResult, ...]:
        """Return the results of one kind of cell."""
        return tuple(each for each in self.results if each.experiment.cell == cell)

    def outcomes(self, cell: str) -> tuple[Outcome, ...]:
        """Return how the experiments with one kind of cell ended."""
        return summary(self.of(cell))


@dataclass(frozen=True)
class CostRecording:
    """Recorded times: of one small batch in several setups, and of a map of larger ones.

    They are CPU times of one thread.
    """

    made: Made
    batch: tuple[Measurement, ...]
    shapes: tuple[Measurement, ...]

    def of(self, cell: str, *, backward: bool = False) -> tuple[Measurement, ...]:
        """Return the map of one kind of cell, forward only or with backward."""
        return tuple(each for each in self.shapes if (each.setup.cell, each.setup.backward) == (cell, backward))


@cache
def training(folder: Path = DATA) -> TrainingRecording:
    """Return recorded trainings, as records that `run_all` yields: those in the package, or in another folder."""
    data, results = json.loads((folder / "training.json").read_text(encoding="utf-8")), []
    for run in data["runs"]:
        experiment, numbers = Experiment(**run["experiment"]), zip(*(run[name] for name in EPOCH), strict=True)
        results += [EpochResult(experiment, run["seed"], epoch, *each) for epoch, each in enumerate(numbers, 1)]
    return TrainingRecording(Made(**data["made"]), tuple(results))


@cache
def cost(folder: Path = DATA) -> CostRecording:
    """Return recorded times, as records that `measure` and `sweep` return, from the same place."""
    data = json.loads((folder / "cost.json").read_text(encoding="utf-8"))
    batch, shapes = (tuple(map(_measurement, data[part])) for part in ("batch", "shapes"))
    return CostRecording(Made(**data["made"]), batch, shapes)


def _measurement(data: dict[str, Any]) -> Measurement:
    padded, packed = Timing(tuple(data["padded"])), Timing(tuple(data["packed"]))
    return Measurement(Setup(**data["setup"]), tuple(data["lengths"]), padded, packed, tuple(data["reasons"]))


def training_headline(recording: TrainingRecording, cell: str) -> str:
    """Return how accurate a cell was, read from the last column and packed, with least and most extra padding."""
    read = _naive_and_packed(recording, cell)
    naive, packed = ([round(each.mean) for each in side] for side in (read.naive, read.packed))
    first, last, most = naive[0], naive[-1], read.packed[-1]
    if not shows_difference(read.naive[-1], most):
        said = ["no_difference"]
    else:
        column = "column_is" if first == last else "column_falls" if last < first else "column_goes"
        batch = "as_good" if read.as_good else "packed"
        said = [column, f"{batch}_stays" if len({*packed}) == 1 else f"{batch}_goes"]
    return sentence(
        *(f"training.{key}" for key in said),
        first=first,
        last=last,
        packed_first=packed[0],
        packed=packed[-1],
        seeds=len(most.seeds),
        pads=most.experiment.extra_padding,
    )


def training_caveat(recording: TrainingRecording, cell: str) -> str:
    """Return when the trainings of a cell were recorded, and how their difference compares with its spread."""
    read = _naive_and_packed(recording, cell)
    least, one, other = read.naive[0], read.naive[-1], read.packed[-1]
    spread = both_spreads(one, other)
    said = [*(["no_harm"] if read.as_good else []), "trained", "gap" if spread is None else "gap_and_chance"]
    if not least.experiment.extra_padding and least.mean < read.packed[0].mean:
        said.append("behind")
    return sentence(
        *(f"training.{key}" for key in said),
        made=recording.made,
        seeds=len(other.seeds),
        pads=other.experiment.extra_padding,
        points=round(abs(one.mean - other.mean)),
        chance=round(max(spread or 0, 1)),
    )


class _BothReadouts(NamedTuple):
    """The outcomes of both readouts, by padding; as_good: whether the last valid step is as packing, in every seed."""

    naive: list[Outcome]
    packed: list[Outcome]
    as_good: bool


def _naive_and_packed(recording: TrainingRecording, cell: str) -> _BothReadouts:
    ways = ("naive", "packed", "last_valid")
    naive, packed, valid = (by_padding(recording.outcomes(cell), readout) for readout in ways)
    as_good = [each.accuracies for each in valid] == [each.accuracies for each in packed]
    return _BothReadouts(naive, packed, as_good)


def training_takes(recording: TrainingRecording, experiments: Sequence[Experiment]) -> str:
    """Estimate how long all seeds of some experiments take; "" if one of these experiments was not recorded."""
    known = {replace(each.experiment, seeds=(0,)): each.seconds for each in summary(recording.results)}
    share = recording.made.cpu_seconds / recording.made.seconds  # CPU time per second
    return _takes(share * len(one.seeds) * known[replace(one, seeds=(0,))] for one in experiments)


def small_run(recording: CostRecording, cell: str) -> Measurement:
    """Return the forward run of the small batch with torch's defaults."""
    forward = [each for each in recording.batch if each.setup.onednn and not each.setup.backward]
    return next(each for each in forward if each.setup.cell == cell)


def cost_headline(recording: CostRecording, cell: str) -> str:
    """Return what packing costs a cell's forward run on the small batch, and for how many larger ones it pays."""
    done = recording.of(cell)
    wins, losses = wins_and_losses(done)
    small, equal = small_run(recording, cell), len(done) - wins - losses
    return sentence(
        "cost.small_equal" if not small.differs else "cost.small_slower" if small.ratio > 1 else "cost.small_faster",
        "cost.larger_equal" if equal else "cost.larger",
        sequences=len(small.lengths),
        times=f"{small.ratio:.1f}",
        share=f"{100 * small.ratio:.0f}",
        larger=len(done),
        wins=wins or "none",
        losses=losses or "none",
        equal=equal,
    )


def cost_caveat(recording: CostRecording, cell: str) -> str:
    """Return when and how the times of a cell were recorded, whether the machine was busy, and which are missing."""
    done = recording.of(cell)
    fields = {(round(each.fill, 2), len(each.lengths)) for each in done}
    fills, sizes = (len(set(each)) for each in zip(*fields, strict=True))
    busy = max(recording.made.load, default=0) > recording.made.cores
    return sentence(
        "cost.medians_busy" if busy else "cost.medians",
        *(["cost.missing"] if fills * sizes > len(fields) else []),
        "cost.units",
        made=recording.made,
        small=small_run(recording, cell).setup,
        larger=done[0].setup,
        rounds=max(each.rounds for each in done),
    )


def machine(recording: CostRecording | TrainingRecording) -> str:
    """Return when a run was recorded, on what machine, and with which versions."""
    return sentence("made.machine", *(["made.load"] if recording.made.load else []), made=recording.made)


def batch_takes(recording: CostRecording, setups: Sequence[Setup], T: int, rounds: int, seconds: float) -> str:
    """Estimate how long it takes to measure a batch in several setups; "" if one of them was not recorded.

    A small model spends its time on its sequential steps, T in each layer and direction, so the time of the recorded
    small batch is scaled by their number. rounds, seconds: of each measurement, as in `measure`.
    """
    known = {_kind(m.setup): _pair(m) / _chain(m.setup, max(m.lengths)) for m in recording.batch}  # seconds per step

    def measuring(setup: Setup) -> float:
        once = known[_kind(setup)] * _chain(setup, T)
        return min((rounds + 1) * once, max(seconds, (LEAST_ROUNDS + 1) * once))

    return _takes(map(measuring, setups))


def sweep_takes(recording: CostRecording, planned: Sequence[Planned], runs: int) -> str:
    """Estimate how long `runs` runs of each batch take; "" if one of these batches was not recorded."""
    known = {(each.setup, each.lengths): _pair(each) for each in recording.shapes}
    return _takes(runs * known[one] for one in planned)


def _takes(seconds: Iterable[float]) -> str:
    """Return how long several things take together; "" if looking one of them up raises KeyError."""
    try:
        total = sum(seconds)
    except KeyError:
        return ""
    whole = max(1, round(total))
    time = counted(whole, "second") if whole < 100 else counted(round(whole / 60), "minute")
    return sentence("made.takes", time=time)


def _pair(done: Measurement) -> float:
    """Return the seconds of one padded and one packed run."""
    return (done.padded.median + done.packed.median) / 1000


def _kind(setup: Setup) -> tuple[object, ...]:
    return setup.cell, setup.backward, setup.onednn, setup.device


def _chain(setup: Setup, T: int) -> int:
    """Return the number of sequential steps of a run."""
    return T * setup.num_layers * (1 + setup.bidirectional)
