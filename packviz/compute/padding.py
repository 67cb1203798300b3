"""Padding: sequences of different lengths become one grid, and the grid remembers where the tokens stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

__all__ = ["Padded", "PaddingSide", "pad", "read_padded"]

PaddingSide = Literal["right", "left"]


@dataclass(frozen=True, eq=False)
class Padded:
    """Hold one batch as a grid of B rows and T columns.

    tokens       (B, T), for feature vectors (B, T, F): what was typed, batch first, padded
    values       (B, T, F) or (T, B, F) as batch_first says: what enters the cell
    mask         (B, T) bool: True where a real token stands
    lengths      (B,) int64, in the order in which the sequences came
    batch_first  the layout of values
    embedding    (V, E), the table that turned tokens into values; None where values are the tokens themselves
    """

    tokens: Tensor
    values: Tensor
    mask: Tensor
    lengths: Tensor
    batch_first: bool
    embedding: Tensor | None = None

    @property
    def grid(self) -> Tensor:
        """Return values as (B, T, F), whatever batch_first says."""
        return self.values if self.batch_first else self.values.transpose(0, 1)


def pad(
    sequences: Sequence[Tensor],
    *,
    batch_first: bool = True,
    padding_value: float = 0.0,
    padding_side: PaddingSide = "right",
    embedding: Tensor | None = None,
) -> Padded:
    """Pad B sequences of (length,) or (length, F) with torch's ``pad_sequence``; embed them if there is a table.

    With an embedding (V, E) the sequences hold int64 ids and padding_value is the id that stands for a pad.
    """

    def padded(batch_first: bool) -> Tensor:
        return pad_sequence(list(sequences), batch_first, padding_value, padding_side)

    tokens = padded(True)  # (B, T) or (B, T, F)
    laid_out = tokens if batch_first else padded(False)
    lengths = torch.tensor([len(sequence) for sequence in sequences], dtype=torch.int64, device="cpu")
    mask = _mask(lengths, tokens.size(1), padding_side)
    return Padded(tokens, _values(laid_out, embedding), mask, lengths, batch_first, embedding)


def read_padded(x: Tensor, lengths: Tensor, *, batch_first: bool) -> Padded:
    """Read a grid that is padded already, on the right: x (B, T, F) or (T, B, F), lengths (B,) int64 on the CPU."""
    grid = x if batch_first else x.transpose(0, 1)
    return Padded(grid, x, _mask(lengths, grid.size(1), "right"), lengths, batch_first)


def _values(tokens: Tensor, embedding: Tensor | None) -> Tensor:
    if embedding is not None:
        return F.embedding(tokens, embedding)
    return tokens.unsqueeze(-1) if tokens.dim() == 2 else tokens


def _mask(lengths: Tensor, T: int, padding_side: PaddingSide) -> Tensor:
    columns = torch.arange(T, device="cpu")
    if padding_side == "left":
        columns = columns.flip(0)
    return columns < lengths.unsqueeze(1)  # (B, T)
