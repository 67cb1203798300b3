"""What stands in the pads, where nobody has said it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["filler_of"]

_ENOUGH = 2  # steps after the lengths that have to agree


def filler_of(x: Tensor, lengths: Sequence[float] | Tensor | None, *, batch_first: bool) -> float:
    """Return the one value that stands everywhere after the lengths of x (B, T) or (B, T, F), else 0.0.

    0.0 is what pad_sequence fills with, and the answer wherever there is no evidence: fewer than two steps after the
    lengths, several values there, or lengths that do not fit x. batch_first as in pack_padded_sequence.
    """
    if lengths is None or x.dim() not in (2, 3) or x.numel() == 0 or x.is_complex():
        return 0.0
    grid = x if batch_first else x.transpose(0, 1)
    try:
        ends = torch.as_tensor(lengths)
    except (ValueError, TypeError, RuntimeError, OverflowError):
        return 0.0
    if ends.device.type != "cpu" or ends.dim() != 1 or len(ends) != len(grid) or not bool(ends.isfinite().all()):
        return 0.0
    after = grid[torch.arange(grid.size(1)) >= ends[:, None]]
    if len(after) < _ENOUGH or not bool((after == after.flatten()[0]).all()):
        return 0.0
    return float(after.flatten()[0])
