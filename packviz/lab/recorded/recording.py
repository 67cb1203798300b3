"""Record full runs of the experiments as JSON, with the date, the machine and the versions; and read them back."""

import json
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from packviz.lab.cost import Measurement, Planned, Setup, Timing, measure, sweep
from packviz.lab.cost.measuring import Stopwatch, load_average
from packviz.lab.training import Experiment, Outcome, Progress, run_all, summary

__all__ = ["CostRecording", "Made", "TrainingRecording", "cost", "training"]

DIGITS = {"train_loss": 6, "test_accuracy": 6, "seconds": 3}  # behind the point, of what is kept of an epoch
DATA = Path(__file__).with_name("data")
FORMAT = 2  # of the data, as recorded.schema.json describes it
Data = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """Hold when, where and with what something was recorded."""

    date: str  # as 2026-11-22
    seconds: float  # that the whole run took, by the clock
    cpu_seconds: float  # in which it had a processor: what it takes on a machine that does nothing else
    cpu: str
    cores: int
    load: list[float]  # the load averages of the last minute before and after it; nothing on systems without one
    threads: int  # of torch's CPU work
    python: str
    torch: str

    @property
    def day(self) -> str:
        """Return the date as a sentence has it: "22 November 2026"."""
        day = date.fromisoformat(self.date)
        return f"{day.day} {day:%B %Y}"


@dataclass(frozen=True)
class TrainingRecording:
    """Hold trainings that were recorded, every epoch of each."""

    made: Made
    results: tuple[Progress, ...]

    def of(self, cell: str) -> tuple[Progress, ...]:
        """Return the results of one kind of cell."""
        return tuple(each for each in self.results if each.experiment.cell == cell)

    def outcomes(self, cell: str) -> tuple[Outcome, ...]:
        """Return how the experiments with one kind of cell ended."""
        return summary(self.of(cell))


@dataclass(frozen=True)
class CostRecording:
    """Hold times that were recorded: of one small batch in several setups, and of a map of larger ones.

    They are processor time of one thread.
    """

    made: Made
    batch: tuple[Measurement, ...]
    shapes: tuple[Measurement, ...]

    def of(self, cell: str, *, backward: bool = False) -> tuple[Measurement, ...]:
        """Return the map of one kind of cell, forward alone or with backward."""
        return tuple(each for each in self.shapes if (each.setup.cell, each.setup.backward) == (cell, backward))


def record_training(experiments: Sequence[Experiment]) -> Data:
    """Train all experiments with one thread; return every epoch of theirs as JSON data."""
    with _alone() as made:
        results = list(run_all(experiments))
    runs = []
    for (one, seed), of_seed in groupby(results, key=lambda each: (each.experiment, each.seed)):
        epochs = list(of_seed)
        columns = {name: [round(getattr(epoch, name), digits) for epoch in epochs] for name, digits in DIGITS.items()}
        runs.append({"experiment": asdict(one), "seed": seed, **columns})
    return {"format": FORMAT, "made": made, "runs": runs}


def record_cost(
    setups: Iterable[Setup], lengths: Sequence[int], planned: Iterable[Planned], rounds: int, seconds: float
) -> Data:
    """Measure a small batch in several setups, and a map of larger ones, with one thread; return JSON data.

    The times are those in which the thread had a processor: other work on the machine disturbs them least.
    lengths: (B,) of the small batch. rounds, seconds: of each measurement, as `measure` takes them.
    """
    watch = Stopwatch(clock=time.thread_time, load=lambda: None)  # the load is in `made`
    with _alone() as made:
        batch = [_measured(measure(setup, lengths, rounds, seconds=seconds, watch=watch)) for setup in setups]
        shapes = [_measured(each) for each in sweep(planned, repeats=rounds, seconds=seconds, watch=watch)]
    return {"format": FORMAT, "made": made, "batch": batch, "shapes": shapes}


def read_training(data: Mapping[str, Any]) -> TrainingRecording:
    """Return recorded trainings, the records that `run_all` yields, from JSON data."""
    results = []
    for run in data["runs"]:
        experiment, numbers = Experiment(**run["experiment"]), zip(*(run[name] for name in DIGITS), strict=True)
        results += [Progress(experiment, run["seed"], epoch, *each) for epoch, each in enumerate(numbers, 1)]
    return TrainingRecording(Made(**data["made"]), tuple(results))


def read_cost(data: Mapping[str, Any]) -> CostRecording:
    """Return recorded times, the records that `measure` and `sweep` return, from JSON data."""
    batch, shapes = (tuple(map(_measurement, data[part])) for part in ("batch", "shapes"))
    return CostRecording(Made(**data["made"]), batch, shapes)


@cache
def training() -> TrainingRecording:
    """Return the trainings that are stored in the package."""
    return read_training(json.loads(DATA.joinpath("training.json").read_text(encoding="utf-8")))


@cache
def cost() -> CostRecording:
    """Return the times that are stored in the package."""
    return read_cost(json.loads(DATA.joinpath("cost.json").read_text(encoding="utf-8")))


@contextmanager
def _alone() -> Iterator[Data]:
    """Compute with one thread, as the app does; what is yielded has, in the end, the fields of Made."""
    threads, loads = torch.get_num_threads(), [load_average()]
    began, had = time.perf_counter(), time.process_time()
    made: Data = {"date": date.today().isoformat()}
    torch.set_num_threads(1)
    try:
        yield made
        made["seconds"] = round(time.perf_counter() - began, 1)
        made["cpu_seconds"] = round(time.process_time() - had, 1)
        loads.append(load_average())
        made |= {"cpu": _cpu(), "cores": os.cpu_count() or 1}
        made |= {"load": [round(load, 1) for load in loads if load is not None], "threads": torch.get_num_threads()}
        made |= {"python": platform.python_version(), "torch": torch.__version__}
    finally:
        torch.set_num_threads(threads)


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    except OSError:
        named = []
    return named[0] if named else platform.processor() or platform.machine()


def _measured(done: Measurement) -> Data:
    times = {side: [round(ms, 4) for ms in getattr(done, side).times] for side in ("padded", "packed")}
    return {"setup": asdict(done.setup), "lengths": done.lengths, **times, "reasons": done.reasons}


def _measurement(data: Mapping[str, Any]) -> Measurement:
    padded, packed = Timing(tuple(data["padded"])), Timing(tuple(data["packed"]))
    return Measurement(Setup(**data["setup"]), tuple(data["lengths"]), padded, packed, tuple(data["reasons"]))
