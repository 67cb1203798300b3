"""Packing: the grid becomes one strip of rows, time step after time step, without a pad between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.inputs.packed_rows import origins

__all__ = ["Packed", "ask_torch", "locate"]


@dataclass(frozen=True, eq=False)
class Packed:
    """Hold the packed rows and where each of them came from.

    data         (N, F), as torch packed it; N is the sum of the lengths
    batch_sizes  (T,) int64: how many sequences are live at each time step
    sequence     (N,) int64: the sequence that each row came from
    timestep     (N,) int64: the column of the padded grid that it came from

    The row of sequence b at time step t is ``offsets[t] + rank[b]``, rank being the place of b in the sorted order.
    """

    data: Tensor
    batch_sizes: Tensor
    sequence: Tensor
    timestep: Tensor

    @cached_property
    def offsets(self) -> Tensor:
        """Return (T,): the first row of each time step. For batch_sizes 3, 2, 1 it is 0, 3, 5."""
        return self.batch_sizes.cumsum(0) - self.batch_sizes


def ask_torch(values: Tensor, lengths: Tensor, *, batch_first: bool, enforce_sorted: bool) -> PackedSequence:
    """Pack values (B, T, F) or (T, B, F) with torch's ``pack_padded_sequence``.

    Raises torch's RuntimeError where enforce_sorted is True and the lengths (B,) are not sorted.
    """
    return pack_padded_sequence(values, lengths, batch_first, enforce_sorted)


def locate(packed: PackedSequence) -> Packed:
    """Say where each packed row came from."""
    sequence, timestep = origins(packed)
    return Packed(packed.data, packed.batch_sizes, sequence, timestep)
