"""Pictures: tensors of a program as panels, in the colours of the sequences that they came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.batch import sequence_label
from packviz.charts import Panel, panels
from packviz.questions.model import Chart

__all__ = ["grid", "numbers", "owners_of", "picture", "strip"]

Places = Iterable[tuple[int, int]]


def picture(*shown: Panel) -> Chart:
    """Return a chart of panels."""
    return Chart(panels, (shown,))


def grid(title: str, values: Tensor, lengths: Sequence[int], *, left: bool = False, wrong: Places = ()) -> Panel:
    """Return a padded grid (B, T): row b in the colour of its sequence, its pads grey; left: padded on the left."""
    T = values.size(1)
    owners = tuple(
        tuple(b if (t >= T - lengths[b] if left else t < lengths[b]) else None for t in range(T))
        for b in range(len(values))
    )
    rows = tuple(sequence_label(b) for b in range(len(values)))
    return Panel(title, _texts(values), owners, wrong=frozenset(wrong), rows=rows)


def strip(title: str, data: Tensor, owners: Sequence[int | None], *, wrong: Iterable[int] = ()) -> Panel:
    """Return packed rows (N,) or (N, 1) as one row, each in the colour of the sequence that it came from."""
    return Panel(title, _texts(data.reshape(1, -1)), (tuple(owners),), wrong=frozenset((0, n) for n in wrong))


def owners_of(lengths: Sequence[int] | Tensor, *, enforce_sorted: bool = False) -> list[int]:
    """Return the sequence of each packed row, found by packing the sequences' numbers with the same lengths."""
    asked = torch.as_tensor(lengths)
    rows = torch.arange(len(asked))[:, None].expand(-1, int(asked.max()))
    packed: PackedSequence = pack_padded_sequence(rows, asked, batch_first=True, enforce_sorted=enforce_sorted)
    return packed.data.tolist()


def numbers(
    title: str, values: Tensor, *, rows: Sequence[str] = (), columns: Sequence[str] = (), wrong: Places = ()
) -> Panel:
    """Return a small matrix in the diverging colours, two decimals a cell."""
    matrix = values.detach().reshape(-1, values.shape[-1] if values.dim() else 1).double()
    texts = tuple(tuple(f"{value:.2f}".replace("-", "−") for value in row) for row in matrix.tolist())
    shown = tuple(map(tuple, matrix.tolist()))
    return Panel(title, texts, values=shown, wrong=frozenset(wrong), rows=tuple(rows), columns=tuple(columns))


def _texts(values: Tensor) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(f"{value:g}".replace("-", "−") for value in row) for row in values.tolist())
