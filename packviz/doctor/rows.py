"""Which sequence and time step a packed row came from, for packed sequences from anywhere."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

__all__ = ["as_grid", "origins", "packed_lengths"]


def packed_lengths(packed: PackedSequence) -> list[int]:
    """Return the lengths of a sound packed sequence, in the order in which the sequences came."""
    sizes = packed.batch_sizes
    columns = torch.zeros(int(sizes.sum()), dtype=torch.bool, device="cpu")
    back = None if packed.unsorted_indices is None else packed.unsorted_indices.cpu()
    _, lengths = pad_packed_sequence(PackedSequence(columns, sizes, None if back is None else back.argsort(), back))
    return [int(length) for length in lengths]


def as_grid(packed: PackedSequence) -> tuple[Tensor, list[int]]:
    """Return the data as (B, T) or (B, T, ...), pads 0, and the lengths, in the order in which the sequences came."""
    values, lengths = pad_packed_sequence(packed, batch_first=True)
    return values, [int(length) for length in lengths]


def origins(packed: PackedSequence, rows: Tensor) -> list[tuple[int, int]]:
    """Return (b, t) of packed rows: the time step by batch_sizes, the sequence by sorted_indices."""
    sizes = packed.batch_sizes
    steps = torch.arange(len(sizes)).repeat_interleave(sizes)
    starts = sizes.cumsum(0) - sizes
    places = []
    for n in rows.tolist():
        t = int(steps[n])
        rank = n - int(starts[t])
        b = rank if packed.sorted_indices is None else int(packed.sorted_indices[rank])
        places.append((b, t))
    return places
