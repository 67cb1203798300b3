"""The rows of numbers that marks show as stripes, and where each is among the numbers of the movie."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, packed_rows, recurrent
from packviz.show.movie.packing.view import View
from packviz.show.movie.written import rounded, stored


def rows(view: View, name: str, matrix: Tensor | None = None) -> int:
    """Return where the rows of a matrix begin in `numbers`: of one with a known name, or the only one of its name."""
    if name == "output" and recurrent.last_layer(view):
        name = "h"
    key = ("rows of", name)
    if key not in view.made:
        view.made[key] = len(view.numbers), matrix
        view.numbers.extend(stored(known(view, name) if matrix is None else rounded(matrix)))
    begin, first = view.made[key]
    if matrix is not first:
        one, other = (torch.zeros(0, device="cpu") if each is None else each.nan_to_num() for each in (matrix, first))
        assert torch.equal(one, other), f"two matrices are named {name}"
    return int(begin)


def rows_at(view: View, name: str, n: Any) -> Any:
    """Return where in `numbers` the packed rows n of a known matrix are."""
    return rows(view, name) + packed_rows.slot(view)[n]


@once
def known(view: View, name: str) -> np.ndarray:
    """Return the numbers of a known matrix as shown: h_0, c_0, x; or of packed rows, at their `slot`:
    a gate, inside, h, c, output, below."""
    return rounded(_known(view, name))


def _known(view: View, name: str) -> Tensor:
    if name == "x":
        padded, shown = view.trace.padded, inputs.features_shown(view)
        found: Tensor = padded.grid[view.shown, : view.columns, :shown].flatten(0, 1)
        return found
    seen = torch.from_numpy(packed_rows.known(view))
    if name == "output":
        return halves(view, view.trace.output[seen]).flatten(1)
    if name == "below":
        below = view.trace.layers[view.layer - 1]
        return torch.cat([half.h[seen, : recurrent.max_units(view) // len(below)] for half in below], 1)
    watched, units = recurrent.watched(view), recurrent.units(view)
    if name == "inside":  # the gates of each packed row, and an LSTM's c
        inside = [*watched.gates.values(), *([] if watched.c is None else [watched.c])]
        return torch.stack([each[seen, :units] for each in inside], 1).flatten(0, 1)
    if name in ("h_0", "c_0"):
        return watched.initial[name == "c_0"][:, :units]
    return watched.rows[name][seen, :units]


def number_of(view: View, name: str, n: int) -> float:
    """Return the number shown for unit 0 in a row of a known matrix."""
    return float(known(view, name)[packed_rows.slot(view)[n], 0])


def x_rows(view: View, b: Any, t: Any) -> Any:
    """Return where in `numbers` the features that enter the cell for a sequence at a time step are."""
    return rows(view, "x") + view.place[b] * view.columns + t


def halves(view: View, matrix: Tensor) -> Tensor:
    """Return (rows, D, units) from (rows, D*H): the units shown of each direction."""
    D = recurrent.directions(view)
    return matrix.view(len(matrix), D, -1)[..., : recurrent.max_units(view) // D]
