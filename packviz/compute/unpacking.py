"""Unpacking: the packed output becomes a grid again, in the order in which the sequences came."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

__all__ = ["Unpacked", "unpack"]


@dataclass(frozen=True, eq=False)
class Unpacked:
    """Hold the output as a grid; D*H is the width of one output row.

    output      (B, T, D*H) or (T, B, D*H) as batch_first says, T being the longest length, or total_length
    lengths     (B,) int64, in the order in which the sequences came
    last_valid  (B, D*H): each direction's state after it has seen the whole sequence. Forward that is the state at
                the last valid step, backward the one at the first: ``output[b, -1]`` is neither
    """

    output: Tensor
    lengths: Tensor
    last_valid: Tensor


def unpack(
    packed_output: PackedSequence,
    *,
    batch_first: bool,
    padding_value: float,
    total_length: int | None,
    last_rows: Tensor,
    first_rows: Tensor,
    directions: int,
) -> Unpacked:
    """Unpack (N, D*H) with torch's ``pad_packed_sequence``; gather the last valid states.

    last_rows, first_rows (B,): the packed rows of each sequence's last and first step.
    """
    output, lengths = pad_packed_sequence(packed_output, batch_first, padding_value, total_length)
    halves = packed_output.data.chunk(directions, 1)  # (N, H) each
    last_valid = [half.index_select(0, rows) for half, rows in zip(halves, (last_rows, first_rows), strict=False)]
    return Unpacked(output, lengths, last_valid[0] if directions == 1 else torch.cat(last_valid, 1))
