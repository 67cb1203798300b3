"""Panels: what judging blocks compare and show: small tensors in the colours of their sequences."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.facts import drift, gradient_distances
from packviz.inputs.cell_kinds import Cell
from packviz.inputs.tensors import valid_mask
from packviz.lab.cost import Measurement, Setup, counts_of, draw_lengths, measure, wins_and_losses
from packviz.lab.cost.charts import counts_bars, timings
from packviz.lab.recorded import cost
from packviz.show.charts.differences import drifts, gradients
from packviz.show.charts.lengths import margins
from packviz.show.charts.panels import Panel
from packviz.text import sequence_label

ROUNDING = 1e-5  # for float32 numbers up to 1: two correct computations of the same thing differ by less
_PAD = -1
Places = Iterable[Sequence[int]]


def close(one: Tensor, other: Tensor) -> bool:
    """Return whether both have the same shape and, up to rounding, the same numbers."""
    return one.shape == other.shape and torch.allclose(one, other, atol=ROUNDING)


def largest(one: Tensor, other: Tensor) -> float:
    """Return the largest elementwise difference."""
    return float((one - other).detach().abs().max())


def rows_off(one: Tensor, other: Tensor) -> list[int]:
    """Return the rows in which one (B, ...) and other differ by more than rounding."""
    return [b for b, pair in enumerate(zip(one, other, strict=True)) if not close(*pair)]


def cells_off(one: Tensor, other: Tensor) -> list[list[int]]:
    """Return [row, column] of the cells in which one (R, C) and other differ by more than rounding."""
    return cast("list[list[int]]", (~torch.isclose(one, other, atol=ROUNDING)).nonzero().tolist())


def measured(lengths: Sequence[int], cell: Cell, *, onednn: bool = True) -> Measurement:
    """Measure a padded and a packed run on one thread, in 9 alternating rounds."""
    return measure(Setup(cell, 32, 64, onednn=onednn, threads=1), lengths, 9, seconds=0.6)


def recorded(cell: Cell) -> Sequence[Measurement]:
    """Return the recorded map of a cell, as the page Cost shows it: forward runs of batches of many sizes."""
    return cost().of(cell)


def labels(rows: Tensor | Iterable[int]) -> list[str]:
    """Return the letters of sequences, A, B, C: for a list of their numbers, or for the rows of a tensor (B, ...)."""
    return [sequence_label(int(b)) for b in (range(len(rows)) if isinstance(rows, Tensor) and rows.dim() > 1 else rows)]


def pads(lengths: Tensor, T: int) -> list[list[int]]:
    """Return [row, column] of the pads of a grid of T columns; lengths (B,)."""
    return cast("list[list[int]]", (~valid_mask(lengths, T)).nonzero().tolist())


def cells(lengths: Tensor, T: int) -> Tensor:
    """Return the sequence of each cell of a padded grid: (B, T) int64, -1 for pads; lengths (B,): the true ones."""
    owners = torch.arange(len(lengths), device="cpu")[:, None].expand(-1, T)
    return torch.where(valid_mask(lengths, T), owners, _PAD)


def row_owners(owners: Tensor, lengths: Tensor, *, batch_first: bool = True) -> list[int | None]:
    """Return for each packed row the sequence that it came from, None for a pad; found by packing the owners.

    owners (B, T) as from `cells`; lengths (B,) and batch_first: those the values were packed with, right or wrong.
    """
    packed = pack_padded_sequence(owners, lengths, batch_first=batch_first, enforce_sorted=False)
    return [None if owner == _PAD else owner for owner in packed.data.tolist()]


def owners_of(lengths: Tensor | Sequence[int]) -> list[int | None]:
    """Return the sequence of each packed row of a batch with these lengths."""
    lengths = torch.as_tensor(lengths, device="cpu")
    return row_owners(cells(lengths, int(lengths.max())), lengths)


def grid(title: str, values: Tensor, lengths: Tensor, *, left: bool = False, wrong: Places = ()) -> Panel:
    """Return a padded grid (B, T): row b in the colour of its sequence, its pads grey; left: padded on the left."""
    values = values.detach()
    owned = cells(lengths.clamp(max=values.size(1)), values.size(1))
    owners = tuple(tuple(None if b == _PAD else b for b in row) for row in (owned.flip(1) if left else owned).tolist())
    return Panel(title, _texts(values), owners, wrong=_places(wrong), rows=tuple(labels(values)))


def strip(title: str, data: Tensor, owners: Iterable[int | None], *, wrong: Iterable[int] = ()) -> Panel:
    """Return packed rows (N,) or (N, 1) as one row, each in the colour of its sequence."""
    return Panel(title, _texts(data.detach().reshape(1, -1)), (tuple(owners),), wrong=_places((0, n) for n in wrong))


def plain(title: str, values: Tensor) -> Panel:
    """Return numbers (N,) that belong to no sequence as one row in the neutral colour."""
    return Panel(title, _texts(values.reshape(1, -1)), values=((0.0,) * values.numel(),))


def numbers(
    title: str, values: Tensor, *, rows: Sequence[str] = (), columns: Sequence[str] = (), wrong: Places = ()
) -> Panel:
    """Return a small matrix in the diverging colours, two decimals in each cell."""
    matrix = values.detach().reshape(-1, values.shape[-1] if values.dim() else 1).double().tolist()
    texts = tuple(tuple(f"{value:z.2f}".replace("-", "−") for value in row) for row in matrix)
    shown = tuple(map(tuple, matrix))
    return Panel(title, texts, values=shown, wrong=_places(wrong), rows=tuple(rows), columns=tuple(columns))


def states(title: str, h: Tensor, *, wrong: Iterable[int] = ()) -> Panel:
    """Return states (B, H), a row per sequence; wrong: the sequences with a wrong state."""
    return numbers(title, h, rows=labels(h), wrong=[(b, unit) for b in wrong for unit in range(h.size(1))])


def reordered(panel: Panel, order: Sequence[int], title: str, *, wrong: Places = ()) -> Panel:
    """Return a grid with its rows in this order, each keeping its colour and letter."""
    texts, owners = tuple(panel.texts[b] for b in order), tuple(panel.owners[b] for b in order)
    return Panel(title, texts, owners, wrong=_places(wrong), rows=tuple(panel.rows[b] for b in order))


def _places(wrong: Places) -> frozenset[tuple[int, int]]:
    return frozenset((int(row), int(column)) for row, column in wrong)


def _texts(values: Tensor) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(f"{value:.4g}".replace("-", "−") for value in row) for row in values.tolist())


_OFFERED: tuple[Any, ...] = (
    *(Panel, counts_bars, counts_of, draw_lengths, drift, drifts, gradient_distances, gradients, margins, replace),
    *(cells, cells_off, close, grid, labels, largest, measured, numbers, owners_of, pads, plain, reordered),
    *(recorded, row_owners, rows_off, states, strip, timings, wins_and_losses),
)
OFFERED = {each.__name__: each for each in _OFFERED}  # to every judging block
