"""What fills the unpacked output, and how wide it is."""

from __future__ import annotations

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from packviz.errors import PackvizError
from packviz.inputs.module import dtype_name
from packviz.inputs.torch_answers import ask
from packviz.rules.evidence import described
from packviz.text import shown
from packviz.validate import is_integer, number

__all__ = ["check_padding_value", "check_total_length"]


MAX_NUMBERS = 1_000_000_000  # 4 GB in float32


def check_padding_value(padding_value: object, dtype: torch.dtype) -> float:
    """Return padding_value as a float. Raises PackvizError unless it is a number that the dtype can hold."""
    limit = torch.finfo(dtype).max
    return number("padding_value", padding_value, limit=limit, finite=False, what=dtype_name(dtype))


def check_total_length(total_length: object, longest: int, column: int) -> int | None:
    """Return total_length; column is how many numbers one time step of the unpacked output has, B*D*H.

    Raises PackvizError unless it is None or a whole number of at least the longest length, and where the output would
    be too large for a memory.
    """
    if total_length is None:
        return None
    expected = f"None or a whole number of at least {longest}, the longest length"
    if not is_integer(total_length):
        mend = f"give {longest} or more, or None"
        raise PackvizError("total_length", expected=expected, came=described(total_length), mend=mend)
    width = int(total_length)
    if width < longest:
        packed = pack_padded_sequence(torch.zeros(1, longest, device="cpu"), [longest], batch_first=True)
        raise PackvizError(
            "total_length",
            expected=expected,
            came=shown(width),
            mend=f"give {longest} or more, or None",
            torch_says=ask(lambda: pad_packed_sequence(packed, True, 0.0, width)).message,
        )
    if width > max(longest, MAX_NUMBERS // column):
        raise PackvizError(
            "total_length",
            expected=f"an unpacked output of at most {MAX_NUMBERS:,} numbers",
            came=f"{described(width)}, with {column:,} numbers in each time step",
            mend=f"give {longest}, or somewhat more",
        )
    return width
