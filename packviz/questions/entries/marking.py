"""Marking: which cells of a small matrix are not what was wanted, and the letters of its rows."""

from __future__ import annotations

from torch import Tensor

from packviz.batch import sequence_label

__all__ = ["differing", "letters", "same"]

ROUNDING = 1e-6  # two right ways round differently, by about 1e-7


def differing(shown: Tensor, wanted: Tensor) -> list[tuple[int, int]]:
    """Return (row, column) of the cells of `shown` (R, C) that are not those of `wanted` (R, C), but for rounding."""
    return [(int(i), int(j)) for i, j in ((shown - wanted).abs() > ROUNDING).nonzero().tolist()]


def same(one: Tensor, other: Tensor) -> bool:
    """Return whether both have one shape and, but for rounding, the same numbers."""
    return one.shape == other.shape and bool(((one - other).abs() <= ROUNDING).all())


def letters(rows: Tensor) -> tuple[str, ...]:
    """Return the letter of each row of `rows` (B, ...): A, B, C ..."""
    return tuple(sequence_label(b) for b in range(len(rows)))
