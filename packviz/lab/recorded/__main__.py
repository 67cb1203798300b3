"""Record the runs that the pages open with: `python -m packviz.lab.recorded`, or only `training` or `cost`.

It takes several minutes on a quiet machine. The results replace the stored ones in `data/`.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import torch

from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from packviz.inputs.cell_kinds import Cell
from packviz.inputs.examples import EXAMPLES
from packviz.lab.cost import Measurement, Planned, plan_sweep, setups_of, sweep
from packviz.lab.cost.measuring import Stopwatch, load_average
from packviz.lab.recorded.recording import DATA, EPOCH
from packviz.lab.training import EXTRA_PADDING, Experiment, Readout, run_all

EXPERIMENTS = [
    Experiment(cell=cell, readout=readout, extra_padding=extra)
    for cell in get_args(Cell)
    for extra in EXTRA_PADDING
    for readout in get_args(Readout)
]
ROUNDS, SECONDS = 41, 0.7  # of each measurement
DIGITS = dict(zip(EPOCH, (6, 6, 3), strict=True))  # after the decimal point
FORMAT = 2  # of the data, as recorded.schema.json describes it
Data = dict[str, Any]


def record_training(experiments: Sequence[Experiment]) -> Data:
    """Train all experiments with one thread; return all their epochs as JSON data."""
    with _alone() as made:
        results = list(run_all(experiments))
    runs = []
    for (one, seed), of_seed in groupby(results, key=lambda each: (each.experiment, each.seed)):
        epochs = list(of_seed)
        columns = {name: [round(getattr(epoch, name), digits) for epoch in epochs] for name, digits in DIGITS.items()}
        runs.append({"experiment": asdict(one), "seed": seed, **columns})
    return {"format": FORMAT, "made": made, "runs": runs}


def record_cost(batch: Iterable[Planned], shapes: Iterable[Planned], rounds: int, seconds: float) -> Data:
    """Measure a small batch in several setups, and a map of larger ones, with one thread; return JSON data.

    The times are CPU times of the thread, which other work on the machine disturbs least.
    rounds, seconds: of each measurement, as in `measure`.
    """
    watch = Stopwatch(clock=time.thread_time, load=lambda: None)  # the load is in `made`
    how: dict[str, Any] = {"repeats": rounds, "seconds": seconds, "watch": watch}
    with _alone() as made:
        done = [[_measured(each) for each in sweep(planned, **how)] for planned in (batch, shapes)]
    return {"format": FORMAT, "made": made, "batch": done[0], "shapes": done[1]}


def _measured(done: Measurement) -> Data:
    times = {side: [round(ms, 4) for ms in getattr(done, side).times] for side in ("padded", "packed")}
    return {"setup": asdict(done.setup), "lengths": done.lengths, **times, "reasons": done.reasons}


@contextmanager
def _alone() -> Iterator[Data]:
    """Compute with one thread, as the app does; on exit, the yielded dict has the fields of Made."""
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


def _cost() -> Data:
    """Measure the first example, and the app's map of the three cells, forward and with backward."""
    first = trace(Batch.example(EXAMPLES[0].key))
    lengths = tuple(first.padded.lengths.tolist())
    batch = [(setup, lengths) for setup in setups_of(first) if setup.device == "cpu"]
    shapes = [each for backward in (False, True) for each in plan_sweep(get_args(Cell), backward=backward)]
    return record_cost(batch, shapes, ROUNDS, SECONDS)


RECORDERS: dict[str, Callable[[], Data]] = {"training": lambda: record_training(EXPERIMENTS), "cost": _cost}


def main(names: Sequence[str], folder: Path = DATA) -> None:
    """Record the named parts, or everything, into a folder."""
    for name in names or RECORDERS:
        data = RECORDERS[name]()
        (folder / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
        print(f"{name}: recorded in {data['made']['seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
