"""Random batches as text: short words, or numbers of two digits, which nobody takes for a row, a step or a count."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

__all__ = ["numbers", "random_lengths", "words"]

_WORDS = ("rain", "fell", "fast", "on", "the", "old", "town", "and", "we", "ran", "home", "so", "wet", "but", "glad")


def random_lengths(
    draw: Random, *, count: tuple[int, int], longest: tuple[int, int], ties: bool, in_order: bool
) -> list[int]:
    """Return lengths that are not all equal.

    count, longest: the least and the most of each. ties: whether some lengths are equal; else none is, where there
    are enough. in_order: whether none is longer than the one before it; else at least one is.
    """
    B, T = draw.randint(*count), draw.randint(*longest)
    while True:
        lengths = [T, *(draw.randint(1, T) for _ in range(B - 1))]
        draw.shuffle(lengths)
        different = len(set(lengths))
        if different > 1 and (different < B if ties else different == min(B, T)):
            break
    falling = sorted(lengths, reverse=True)
    if in_order:
        return falling
    while lengths == falling:
        draw.shuffle(lengths)
    return lengths


def numbers(draw: Random, lengths: Sequence[int]) -> str:
    """Return a text of one sequence a line, of numbers from 10 to 99."""
    return _lines([[str(draw.randint(10, 99)) for _ in range(length)] for length in lengths])


def words(draw: Random, lengths: Sequence[int]) -> str:
    """Return a text of one sequence a line, of words of two to four letters."""
    return _lines([[draw.choice(_WORDS) for _ in range(length)] for length in lengths])


def _lines(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(" ".join(row) for row in rows)
