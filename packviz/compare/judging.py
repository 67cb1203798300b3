"""When two results are called equal, and how a sentence writes numbers and sequences."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import torch
from torch import Tensor

from packviz.batch import sequence_label

__all__ = ["apart", "counted", "differing", "largest", "letters", "tolerance_of", "written"]

_TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-12}
_MOST_LETTERS = 8


def tolerance_of(dtype: torch.dtype) -> float:
    """Return up to where two results are called equal, for numbers up to 1: 1e-5 in float32, 1e-12 in float64.

    Padded and packed runs add up in another order, so they are equal up to rounding and never promised to be equal to
    the last bit. In a half precision it is twice the distance of two numbers near 1. Where numbers are larger than 1,
    the tolerance grows with the largest one of a sequence.
    """
    return _TOLERANCES.get(dtype, 2 * torch.finfo(dtype).eps)


def apart(one: Tensor, other: Tensor) -> Tensor:
    """Return |one - other| in float64, number by number; 0 where both are the same, infinite or nan included."""
    same = (one == other) | (one.isnan() & other.isnan())
    return (one.double() - other.double()).abs().masked_fill(same, 0.0)


def largest(one: Tensor, other: Tensor) -> float:
    """Return the largest difference between two numbers in the same place; 0.0 where there is none."""
    return float(apart(one, other).max()) if one.numel() else 0.0


def differing(one: Tensor, other: Tensor, tolerance: float) -> tuple[int, ...]:
    """Return the rows in which one (B, ...) and other differ by more than rounding."""
    size = torch.maximum(one.abs(), other.abs()).double().nan_to_num(0.0, 0.0, 0.0).flatten(1)
    bound = tolerance * size.amax(1).clamp(min=1.0)  # (B,)
    equal = (apart(one, other).flatten(1) <= bound.unsqueeze(1)).all(1)  # nan is not
    return tuple((~equal).nonzero().flatten().tolist())


def written(number: float) -> str:
    """Return a number for a sentence: two digits that count, 0.42 and 3e-8, or that it is none."""
    if not isfinite(number):
        return "no finite number"
    return f"{number:.2g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def letters(sequences: Sequence[int]) -> str:
    """Return "A", "A and B", "A, B and C"; of many the first few, and how many more."""
    names = [sequence_label(b) for b in sequences]
    if len(names) > _MOST_LETTERS:
        return f"{', '.join(names[:_MOST_LETTERS])} and {len(names) - _MOST_LETTERS} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def counted(number: int, noun: str) -> str:
    """Return "1 pad", "2 pads"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
