"""Marking: which cells of a small matrix are not what was wanted, the letters of its rows, a vector in a sentence."""

from __future__ import annotations

import torch
from torch import Tensor

from packviz.batch import sequence_label

__all__ = ["close", "differing", "letters", "same", "written"]

ROUNDING = 1e-6  # two right ways round differently, by about 1e-7


def close(one: Tensor, other: Tensor) -> bool:
    """Return whether both have, but for rounding, the same numbers, as torch.allclose does."""
    return torch.allclose(one, other, atol=ROUNDING)


def differing(shown: Tensor, wanted: Tensor) -> list[tuple[int, int]]:
    """Return (row, column) of the cells of `shown` (R, C) that are not those of `wanted` (R, C), but for rounding."""
    return [(int(i), int(j)) for i, j in ((shown - wanted).abs() > ROUNDING).nonzero().tolist()]


def same(one: Tensor, other: Tensor) -> bool:
    """Return whether both have one shape and, but for rounding, the same numbers."""
    return one.shape == other.shape and bool(((one - other).abs() <= ROUNDING).all())


def letters(rows: Tensor) -> tuple[str, ...]:
    """Return the letter of each row of `rows` (B, ...): A, B, C ..."""
    return tuple(sequence_label(b) for b in range(len(rows)))


def written(vector: Tensor) -> str:
    """Return a vector (H,) as it stands in a sentence: two decimals a number."""
    return f"[{', '.join(f'{value:.2f}' for value in vector.tolist())}]"
