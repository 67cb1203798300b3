"""How the states of a run are read off its cells, in which order they come about, and what its code names."""

from typing import Any

import torch
import torch.nn.functional as F
from movie_cases import Case
from movie_screen import Look, Show
from torch import Tensor
from torch.nn.utils import rnn

__all__ = ["given", "row_inside", "state", "steps", "steps_left_out", "units_of"]


def state(cells: dict[str, Look], name: str, b: int) -> list[float | None] | None:
    """Return the numbers of a sequence in the panel h or hn; None where nothing is shown."""
    one = cells.get(f"{name}:{b}")
    if one:
        return list(one["vec"]) if one["shown"] else None
    return units_of(cells, f"{name}:{b}")


def units_of(cells: dict[str, Look], name: str) -> list[float | None] | None:
    """Return the numbers of a row of cells, one a unit; None where none of them is shown."""
    units = [cell for unit in range(99) if (cell := cells.get(f"{name}:{unit}"))]
    assert units, name
    if not all(cell["shown"] for cell in units):
        assert not any(cell["shown"] for cell in units)
        return None
    return [None if cell["text"] == "nan" else cell["v"] for cell in units]


def steps(case: Case, show: Show) -> list[tuple[int, dict[str, Look]]]:
    """Return (time step, cells after it) in order of processing; the start is left out."""
    filmed = range(min(len(case.batch_sizes), 60))
    order = reversed(filmed) if case.direction else filmed
    return list(zip(order, [cells for _, cells in show.of("run")[1:]], strict=True))


def row_inside(case: Case, n: int) -> dict[str, Tensor]:
    """Return the gates and c of a packed row, as the trace has them: test_oracle.py proves them equal to torch's."""
    layer, direction = case.watched
    return {name: rows[n] for name, rows in case.trace.layers[layer][direction].rows.items() if name != "h"}


def steps_left_out(case: Case) -> bool:
    """Return whether the run has taken time steps before the first that is shown."""
    return bool(case.direction) and len(case.batch_sizes) > 60


def given(case: Case) -> dict[str, Any]:
    """Return what a reader of the code has: torch's functions, the sequences, the module, its initial state.

    Of a grid of one's own there is x instead of the sequences; ids are whole numbers.
    """
    kind = case.module.weight_ih_l0.dtype if case.table is None else torch.int64
    functions = {name: getattr(torch, name) for name in ("arange", "cat", "relu", "sigmoid", "tanh")}
    functions |= {name: getattr(rnn, name) for name in rnn.__all__ if name.startswith("pa")} | {"linear": F.linear}
    batch = {"sequences": [s.to(kind) for s in case.batch.sequences]} if case.batch else {"x": case.trace.padded.values}
    sizes = {"B": case.B, "T": case.T, "lengths": torch.tensor(case.lengths)}
    states = {} if case.trace.error else {"h_0": case.trace.h_0, "c_0": case.trace.c_0}
    called = {"embedding": lambda ids: F.embedding(ids, case.table), type(case.module).__name__.lower(): case.module}
    return functions | batch | sizes | states | called
