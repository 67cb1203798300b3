"""Record the runs that the pages open with: `python -m packviz.lab.recorded`, or only `training` or `cost`.

It takes several minutes on a quiet machine. The results replace the stored ones in `data/`.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from packviz.inputs.cell_kinds import Cell
from packviz.inputs.examples import EXAMPLES
from packviz.lab.cost import plan_sweep, setups_of
from packviz.lab.recorded.recording import DATA, record_cost, record_training
from packviz.lab.training import EXTRA_PADDING, Experiment, Readout

EXPERIMENTS = [
    Experiment(cell=cell, readout=readout, extra_padding=extra)
    for cell in get_args(Cell)
    for extra in EXTRA_PADDING
    for readout in get_args(Readout)
]
ROUNDS, SECONDS = 41, 0.7  # of each measurement


def _cost() -> dict[str, Any]:
    """Measure the first example, and the app's map of the three cells, forward and with backward."""
    first = trace(Batch.example(EXAMPLES[0].key))
    planned = [each for backward in (False, True) for each in plan_sweep(get_args(Cell), backward=backward)]
    setups = [setup for setup in setups_of(first) if setup.device == "cpu"]
    return record_cost(setups, first.padded.lengths.tolist(), planned, ROUNDS, SECONDS)


RECORDERS: dict[str, Callable[[], dict[str, Any]]] = {"training": lambda: record_training(EXPERIMENTS), "cost": _cost}


def main(names: Sequence[str], folder: Path = DATA) -> None:
    """Record what is named, or everything, into a folder."""
    for name in names or RECORDERS:
        data = RECORDERS[name]()
        (folder / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
        print(f"{name}: recorded in {data['made']['seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
