"""What both sides hold at every time step, the padded and the packed one, and how far apart they are."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.trace import Trace
from packviz.compute.verify import apart, differing
from packviz.facts.padded_run import layer_states
from packviz.inputs.tensors import valid_mask
from packviz.show.movie.layout import Grid
from packviz.show.movie.packing import places, recurrent
from packviz.show.movie.packing.cells import UNIT
from packviz.show.movie.packing.view import View, Window, watch

PADDED, PACKED = SIDES = ("padded", "packed")
OUTPUT_WIDTH = 1.2  # units of a state in the output, at most
STAGE = (690.0, 336.0)  # pixels of the picture beside the code
LINE = 14  # pixels of a line of text


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two sides: its input and output grids, its states, and the positions of its rows.

    states: (B,T,P) the watched state after every time step. start: (B,P) the one before the first step shown.
    row: (B,) the row of each sequence. runs: (B,) for how many of the time steps shown each sequence has states.
    b, t: sequence and time step of all of these states.
    """

    name: str
    x: Grid
    out: Grid
    states: Tensor
    start: Tensor
    row: np.ndarray
    runs: np.ndarray
    b: np.ndarray
    t: np.ndarray


@dataclass(frozen=True, eq=False)
class Pair:
    """A run on the packed batch beside the same module on the padded grid; time runs across, whatever batch_first is.

    view                   what is watched of the packed run
    padded                 [layer][direction] (B,T,P): torch's states at every cell of the grid, pads included
    times                  the time steps shown, in processing order
    apart, same            (B,T): how far apart the two states are, and whether they are equal up to rounding
    last                   h_n of the two sides, (B,P) each
    last_apart, last_same  (B,): how far apart its rows are, and whether they are equal up to rounding
    sides, home            the padded and the packed side, their rows in sorted order and in the original order
    made                   what `once` keeps
    """

    view: View
    padded: tuple[tuple[Tensor, ...], ...]
    times: list[int]
    apart: np.ndarray
    same: np.ndarray
    last: tuple[Tensor, Tensor]
    last_apart: np.ndarray
    last_same: np.ndarray
    sides: tuple[Side, Side]
    home: tuple[Side, Side]
    made: dict[object, Any] = field(default_factory=dict)


def pair(trace: Trace, layer: int, direction: int, window: Window) -> Pair:
    """Return a trace beside the same module over the padded grid."""
    view = watch(trace, layer, direction, window, transposed=False)
    view = replace(view, text=_line_height(view))
    watched, total = recurrent.watched(view), view.total
    with exact_arithmetic():
        padded = tuple(tuple(half.detach() for half in each) for each in layer_states(trace))
    ours, theirs = padded[layer][direction], _held(view)  # (B,T,P) after every time step
    last = ours[:, 0 if direction else -1], watched.h_n
    runs = np.minimum(np.array(view.lengths), view.columns)
    sides = (
        _side(view, PADDED, view.columns, ours, view.rank, np.full(total[0], view.columns)),
        _side(view, PACKED, places.unpacked(view).columns, theirs, view.rank, runs),
    )
    return Pair(
        view=view,
        padded=padded,
        times=sorted(range(view.columns), reverse=bool(direction)),
        apart=_farthest(ours, theirs),
        same=_same(ours.flatten(0, 1), theirs.flatten(0, 1)).reshape(total),
        last=last,
        last_apart=_farthest(*last),
        last_same=_same(*last),
        sides=sides,
        home=(replace(sides[0], row=view.place), replace(sides[1], row=view.place)),
    )


def _side(view: View, name: str, columns: int, states: Tensor, row: np.ndarray, runs: np.ndarray) -> Side:
    x = replace(places.grid(view), name=f"{name}x", transposed=False, below=0.0)
    out = Grid(f"{name}o", len(view.shown), columns, min(places.cell_width(view), OUTPUT_WIDTH), text=view.text)
    late = view.direction and view.columns < view.total[1]  # backward, the steps not shown come first
    rows, t = (places.time_steps(view) < runs[view.ranked][:, None]).nonzero()
    start = states[:, view.columns] if late else recurrent.watched(view).h_0
    return Side(name, x, out, states, start, row, runs, view.ranked[rows], t)


def _held(view: View) -> Tensor:
    """Return the watched state that the packed side holds at each time step; a row that is not live keeps it."""
    watched = recurrent.watched(view)
    states = view.trace.packed_sequence._replace(data=watched.h)
    unpacked, _ = pad_packed_sequence(states, batch_first=True, total_length=view.total[1])
    fed = valid_mask(view.trace.padded.lengths, view.total[1])
    otherwise = (watched.h_0 if view.direction else watched.h_n).unsqueeze(1)
    return torch.where(fed.unsqueeze(2), unpacked, otherwise)


def _line_height(view: View) -> float:
    """Return the room for a line of text, in units: everything appears twice, so cells are smaller than elsewhere."""
    rows, wide = len(view.shown), view.columns * places.cell_width(view) + state_width(view) + 2
    out = 0 if view.small else view.columns * min(places.cell_width(view), OUTPUT_WIDTH)
    stacked = max(_line(wide + out, 7, 0), _line(2 * rows, 4, 1))
    return max(1.0, min(stacked, max(_line(2 * wide, 13, 0), _line(rows * (2 if out else 1), 4, 1))))


def state_width(view: View) -> float:
    """Return the width of a row of h."""
    return max(8.0, len(view.shown) / 2) if view.small else recurrent.units(view) * UNIT


def _farthest(a: Tensor, b: Tensor) -> np.ndarray:
    """Return the largest distance along the last axis; 0 if identical, nan and infinity included."""
    return apart(a, b).amax(-1).numpy()


def _same(a: Tensor, b: Tensor) -> np.ndarray:
    """Return (rows,) whether a row of a and of b are equal up to rounding."""
    same = np.ones(len(a), dtype=bool)
    same[list(differing(a, b))] = False
    return same


def _line(units: float, lines: float, axis: int) -> float:
    """Return the height in units of a line of text in a picture `units` plus `lines` lines wide or high."""
    return LINE * units / (STAGE[axis] - LINE * lines)
