"""Sorting: the order by length that packing needs, exactly as torch chose it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

__all__ = ["Sorted", "read_order"]


@dataclass(frozen=True, eq=False)
class Sorted:
    """Hold the order in which the sequences were packed: the longest first.

    lengths           (B,) int64, in that order
    sorted_indices    (B,) int64: the sequence at each place; None when enforce_sorted=True (nothing was moved)
    unsorted_indices  (B,) int64: the place of each sequence; None likewise
    """

    lengths: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None

    @property
    def order(self) -> Tensor:
        """Return (B,): the sequence at each place. For lengths 3, 2, 4 it is 2, 0, 1."""
        return self._or_unmoved(self.sorted_indices)

    @property
    def rank(self) -> Tensor:
        """Return (B,): the place of each sequence. For lengths 3, 2, 4 it is 1, 2, 0."""
        return self._or_unmoved(self.unsorted_indices)

    def apply(self, state: Tensor) -> Tensor:
        """Return a state (L*D, B, H) with its sequences in the sorted order, as torch does it."""
        return state if self.sorted_indices is None else state.index_select(1, self.sorted_indices)

    def _or_unmoved(self, indices: Tensor | None) -> Tensor:
        return torch.arange(len(self.lengths), device="cpu") if indices is None else indices


def read_order(packed: PackedSequence, lengths: Tensor) -> Sorted:
    """Read from torch's answer in which order it packed sequences of these lengths (B,).

    The order is never recomputed: torch's sort is not stable from 17 equal lengths on.
    """
    order = packed.sorted_indices
    in_order = lengths if order is None else lengths.index_select(0, order)
    return Sorted(in_order, order, packed.unsorted_indices)
