"""The stages around the run: the padded grid, the packed rows and their order, and the unpacked grid."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_sequence

from packviz.inputs.config import PaddingSide
from packviz.inputs.packed_rows import origins
from packviz.inputs.tensors import valid_mask
from packviz.text import Brief


@dataclass(frozen=True, eq=False, repr=False)
class Padded(Brief):
    """One batch as a grid of B rows and T columns.

    tokens       (B, T), for feature vectors (B, T, F): the input as typed, batch first, padded
    values       (B, T, F) or (T, B, F) according to batch_first: what enters the cell
    mask         (B, T) bool: True at real tokens
    lengths      (B,) int64, in the original order of the sequences
    batch_first  the layout of values
    embedding    (V, E), the table that turned tokens into values; None if values are the tokens themselves
    """

    tokens: Tensor
    values: Tensor
    mask: Tensor
    lengths: Tensor
    batch_first: bool
    embedding: Tensor | None = None

    @property
    def grid(self) -> Tensor:
        """Return values as (B, T, F), whatever batch_first is."""
        return self.values if self.batch_first else self.values.transpose(0, 1)


def pad(
    sequences: Sequence[Tensor],
    *,
    batch_first: bool = True,
    padding_value: float = 0.0,
    padding_side: PaddingSide = "right",
    embedding: Tensor | None = None,
) -> Padded:
    """Pad B sequences of (length,) or (length, F) with torch's ``pad_sequence``; embed them if a table is given.

    With an embedding (V, E) the sequences hold int64 ids and padding_value is the id of the padding token.
    """
    padded = partial(pad_sequence, list(sequences), padding_value=padding_value, padding_side=padding_side)
    tokens = padded(batch_first=True)  # (B, T) or (B, T, F)
    values = tokens if batch_first else padded(batch_first=False)
    if embedding is not None:
        values = F.embedding(values, embedding)
    elif tokens.dim() == 2:
        values = values.unsqueeze(-1)
    lengths = torch.tensor([len(sequence) for sequence in sequences], dtype=torch.int64, device="cpu")
    mask = valid_mask(lengths, tokens.size(1))
    return Padded(tokens, values, mask.flip(1) if padding_side == "left" else mask, lengths, batch_first, embedding)


def read_padded(x: Tensor, lengths: Tensor, *, batch_first: bool) -> Padded:
    """Wrap a grid already padded on the right: x (B, T, F) or (T, B, F), lengths (B,) int64 on the CPU."""
    grid = x if batch_first else x.transpose(0, 1)
    return Padded(grid, x, valid_mask(lengths, grid.size(1)), lengths, batch_first)


@dataclass(frozen=True, eq=False, repr=False)
class Sorted(Brief):
    """The order in which torch packed the sequences, longest first.

    lengths           (B,) int64, in that order
    sorted_indices    (B,) int64: the sequence at each rank; None if enforce_sorted=True (nothing was moved)
    unsorted_indices  (B,) int64: the rank of each sequence; None likewise
    """

    lengths: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None

    @property
    def order(self) -> Tensor:
        """Return (B,): the sequence at each rank. For lengths 3, 2, 4 it is 2, 0, 1."""
        return _or_unmoved(self.sorted_indices, len(self.lengths))

    @property
    def rank(self) -> Tensor:
        """Return (B,): the rank of each sequence. For lengths 3, 2, 4 it is 1, 2, 0."""
        return _or_unmoved(self.unsorted_indices, len(self.lengths))


@dataclass(frozen=True, eq=False, repr=False)
class Packed(Brief):
    """The packed rows as torch returned them, and where each came from.

    data                              (N, F); N is the sum of the lengths
    batch_sizes                       (T,) int64: how many sequences are live at each time step
    sorted_indices, unsorted_indices  (B,) int64, or None: see Sorted
    sequence                          (N,) int64: the sequence that each row came from
    timestep                          (N,) int64: the column of the padded grid that it came from

    The row of sequence b at time step t is ``offsets[t] + rank[b]``, where rank[b] is b's position in the sorted order.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None
    sequence: Tensor
    timestep: Tensor

    @cached_property
    def origins(self) -> list[tuple[int, int]]:
        """Return N pairs: the sequence and the time step that each row came from."""
        return list(zip(self.sequence.tolist(), self.timestep.tolist(), strict=True))

    @cached_property
    def offsets(self) -> Tensor:
        """Return (T,): the first row of each time step. For batch_sizes 3, 2, 1 it is 0, 3, 5."""
        return self.batch_sizes.cumsum(0) - self.batch_sizes

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Return batch_sizes as T integers."""
        return tuple(self.batch_sizes.tolist())

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Return B integers: the sequence at each rank."""
        return tuple(_or_unmoved(self.sorted_indices, self.sizes[0]).tolist())

    @cached_property
    def first_rows(self) -> Tensor:
        """Return (B,): the row of each sequence's first step, in the original order; it equals its rank."""
        return _or_unmoved(self.unsorted_indices, self.sizes[0])

    @cached_property
    def last_rows(self) -> Tensor:
        """Return (B,): the row of each sequence's last valid step, in the original order."""
        lengths = self.sequence.bincount()
        return self.offsets.index_select(0, lengths - 1) + self.first_rows


def locate(packed: PackedSequence) -> Packed:
    """Record a packed sequence and where each of its rows came from."""
    return Packed(*packed, *origins(packed))


@dataclass(frozen=True, eq=False, repr=False)
class Unpacked(Brief):
    """The output as a grid; D*H is the width of one output row.

    output      (B, T, D*H) or (T, B, D*H) according to batch_first; T is the longest length, or total_length
    lengths     (B,) int64, in the original order of the sequences
    last_valid  (B, D*H): each direction's state after it has seen the whole sequence. Forward that is the state at
                the last valid step, backward the one at the first: ``output[b, -1]`` is neither
    """

    output: Tensor
    lengths: Tensor
    last_valid: Tensor


def _or_unmoved(indices: Tensor | None, B: int) -> Tensor:
    return torch.arange(B, device="cpu") if indices is None else indices
