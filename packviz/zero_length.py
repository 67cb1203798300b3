"""Sequences of length 0: refused, with what torch itself says of them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.errors import PackvizError

__all__ = ["zero_length_refusal"]


def zero_length_refusal(parameter: str, lengths: Sequence[int], came: str, removal: str) -> PackvizError:
    """Return the error for a sequence of length 0, with what torch says of these lengths when it is asked now."""
    return PackvizError(
        parameter,
        expected="at least one step in each sequence",
        came=came,
        torch_says=_torch_refusal(lengths),
        mend=f"{removal}, or keep its row by packing with lengths.clamp(min=1) and masking what comes out of it",
    )


def _torch_refusal(lengths: Sequence[int]) -> str | None:
    try:  # torch looks at the lengths before it looks at the values: one column is enough
        pack_padded_sequence(torch.zeros(len(lengths), 1), torch.tensor(lengths), True, enforce_sorted=False)
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return None
