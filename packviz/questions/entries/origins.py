"""Origins: the sequence that each packed row came from, also where the lengths or the axes are wrong."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

__all__ = ["cells", "origins"]

_PAD = -1


def cells(lengths: Tensor, T: int) -> Tensor:
    """Return whose each cell of a padded grid is: (B, T) int64, -1 for pads; lengths (B,) as they really are."""
    owners = torch.arange(len(lengths))[:, None].expand(-1, T)
    return torch.where(torch.arange(T) < lengths[:, None], owners, _PAD)


def origins(owners: Tensor, claimed: Tensor, *, batch_first: bool = True) -> list[int | None]:
    """Return for each packed row the sequence that it came from, or None for a pad; found by packing the owners.

    owners (B, T) as of `cells`; claimed, batch_first: what the values were packed with, right or wrong.
    """
    packed = pack_padded_sequence(owners, claimed, batch_first=batch_first, enforce_sorted=False)
    return [None if owner == _PAD else owner for owner in packed.data.tolist()]
