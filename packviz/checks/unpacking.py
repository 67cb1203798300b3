"""What fills the unpacked output, and how wide it is."""

from __future__ import annotations

from numbers import Integral, Real

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from packviz.checks.evidence import described, torch_refusal
from packviz.errors import PackvizError

__all__ = ["check_padding_value", "check_total_length"]


MOST_NUMBERS = 1_000_000_000  # 4 GB in float32


def check_padding_value(padding_value: object) -> float:
    """Return padding_value as a float. Raises PackvizError unless it is a number."""
    if isinstance(padding_value, bool) or not isinstance(padding_value, Real):
        mend = "give a number such as 0.0"
        raise PackvizError("padding_value", expected="a number", came=described(padding_value), mend=mend)
    return float(padding_value)


def check_total_length(total_length: object, longest: int, column: int) -> int | None:
    """Return total_length; column is how many numbers one time step of the unpacked output has, B*D*H.

    Raises PackvizError unless it is None or a whole number of at least the longest length, and where the output would
    be too large for a memory.
    """
    if total_length is None:
        return None
    expected = f"None or a whole number of at least {longest}, the longest length"
    if isinstance(total_length, bool) or not isinstance(total_length, Integral):
        mend = f"give {longest} or more, or None"
        raise PackvizError("total_length", expected=expected, came=described(total_length), mend=mend)
    width = int(total_length)
    if width < longest:
        packed = pack_padded_sequence(torch.zeros(1, longest, device="cpu"), [longest], batch_first=True)
        raise PackvizError(
            "total_length",
            expected=expected,
            came=str(width),
            mend=f"give {longest} or more, or None",
            torch_says=torch_refusal(lambda: pad_packed_sequence(packed, True, 0.0, width)),
        )
    if width > max(longest, MOST_NUMBERS // column):
        raise PackvizError(
            "total_length",
            expected=f"an unpacked output of at most {MOST_NUMBERS:,} numbers",
            came=f"{described(width)}, with {column:,} numbers in each time step",
            mend=f"give {longest}, or somewhat more",
        )
    return width
