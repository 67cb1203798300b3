"""Which sequence and time step a packed row came from, for any PackedSequence."""

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence


def as_they_are(*fields: Tensor | None) -> PackedSequence:
    """Return a packed sequence with these fields as they are; torch's constructor would derive one of the indices."""
    data, batch_sizes, sorted_indices, unsorted_indices = fields
    assert data is not None
    return PackedSequence(data, batch_sizes)._replace(sorted_indices=sorted_indices, unsorted_indices=unsorted_indices)


def packed_lengths(packed: PackedSequence) -> list[int]:
    """Return the lengths of a valid packed sequence, in the original order of the sequences."""
    sizes = packed.batch_sizes
    columns = torch.zeros(int(sizes.sum()), dtype=torch.bool, device="cpu")
    back = None if packed.unsorted_indices is None else packed.unsorted_indices.cpu()
    return as_grid(PackedSequence(columns, sizes, None if back is None else back.argsort(), back))[1]


def as_grid(packed: PackedSequence) -> tuple[Tensor, list[int]]:
    """Return the data as (B, T) or (B, T, ...), pads 0, and the lengths, in the original order of the sequences."""
    values, lengths = pad_packed_sequence(packed, batch_first=True)
    return values, [int(length) for length in lengths]


def origins(packed: PackedSequence) -> tuple[Tensor, Tensor]:
    """Return the sequence and the time step, (N,) int64 each, that each row of a valid packed sequence came from.

    A grid of cell numbers is packed by the same call as the data: nothing is recomputed, and equal lengths stay in the
    order that torch gave them.
    """
    sizes, order = packed.batch_sizes, packed.sorted_indices
    T, B = len(sizes), int(sizes[0])
    lengths = (sizes.unsqueeze(1) > torch.arange(B, device="cpu")).sum(0)  # (B,), the longest first
    cell = torch.arange(T * B, device="cpu").view(T, B)  # time first: torch packs it faster
    cell = cell if order is None else cell.index_select(1, order.cpu())
    cell = pack_padded_sequence(cell, lengths, enforce_sorted=True).data  # (N,)
    return cell % B, cell.div(B, rounding_mode="floor")
