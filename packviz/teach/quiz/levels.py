"""Level: how hard a round is, in the kinds of its questions and in the random batches that they are asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import get_args

from packviz.inputs.config import Cell, Config

__all__ = ["LEVELS", "Level", "numbers", "random_lengths", "words"]

_WORDS = ("rain", "fell", "fast", "on", "the", "old", "town", "and", "we", "ran", "home", "so", "wet", "but", "glad")


def random_lengths(
    draw: Random, *, count: tuple[int, int], longest: tuple[int, int], ties: bool, in_order: bool
) -> list[int]:
    """Return lengths that are not all equal, and that sorted are not `batch_sizes`: these two are often confused.

    count, longest: the least and the most of each. ties: whether some lengths are equal; else none is, where there
    are enough. in_order: whether none is longer than the one before it; else at least one is.
    """
    while True:
        B, T = draw.randint(*count), draw.randint(*longest)
        lengths = [T, *(draw.randint(1, T) for _ in range(B - 1))]
        draw.shuffle(lengths)
        different = len(set(lengths))
        falling = sorted(lengths, reverse=True)
        batch_sizes = [sum(length > t for length in lengths) for t in range(T)]
        if different > 1 and (different < B if ties else different == min(B, T)) and falling != batch_sizes:
            break
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


Drawn = tuple[str, Config]
_CELLS: tuple[Cell, ...] = get_args(Cell)
_ABOUT_THE_SORT = ("sorted_row", "sorted_indices")  # on a sorted batch they ask for what came


@dataclass(frozen=True)
class Level:
    """Say what is asked at one level.

    told   what its batches are like, in a few words
    kinds  of predictions, keys of packviz.teach.predictions.KINDS
    draw   returns a random batch, as text, and the settings, for a question of one kind
    """

    told: str
    kinds: tuple[str, ...]
    draw: Callable[[Random, str], Drawn]


def _first(draw: Random, kind: str) -> Drawn:
    in_order = draw.random() < (0.5 if kind == "enforced" else 0.7) and kind not in _ABOUT_THE_SORT
    lengths = random_lengths(draw, count=(3, 4), longest=(3, 5), ties=False, in_order=in_order)
    return numbers(draw, lengths), Config(cell=draw.choice(_CELLS), enforce_sorted=kind == "enforced")


def _second(draw: Random, kind: str) -> Drawn:
    in_order = kind == "enforced" and draw.random() < 0.5
    lengths = random_lengths(draw, count=(4, 6), longest=(3, 7), ties=draw.random() < 0.6, in_order=in_order)
    write = words if kind == "padded_shape" or draw.random() < 0.5 else numbers
    cell, batch_first = draw.choice(_CELLS), draw.random() < 0.5
    return write(draw, lengths), Config(cell=cell, batch_first=batch_first, enforce_sorted=kind == "enforced")


def _third(draw: Random, kind: str) -> Drawn:
    enforce_sorted = kind == "enforced" or (kind not in _ABOUT_THE_SORT[:1] and draw.random() < 0.3)
    in_order = enforce_sorted and (kind != "enforced" or draw.random() < 0.5)
    lengths = random_lengths(draw, count=(4, 6), longest=(4, 8), ties=draw.random() < 0.6, in_order=in_order)
    write = words if draw.random() < 0.4 else numbers
    widened = kind == "last_column" and draw.random() < 0.2
    config = Config(
        cell=draw.choice(_CELLS),
        num_layers=draw.choice((1, 2, 2, 3)),
        bidirectional=kind.endswith("_backward") or draw.random() < 0.6,
        batch_first=draw.random() < 0.6,
        enforce_sorted=enforce_sorted,
        padding_side="left" if draw.random() < 0.35 else "right",
        total_length=max(lengths) + draw.randint(1, 2) if widened else None,
    )
    return write(draw, lengths), config


LEVELS: Mapping[int, Level] = {
    1: Level(
        "short batches of numbers, most of them sorted",
        (
            "padded_shape",
            "pad_count",
            "enforced",
            "sorted_row",
            "batch_sizes",
            "batch_size",
            "packed_row",
            "packed_token",
            "alive",
            "ended",
            "final_step",
            "last_column",
            "unpacked_width",
        ),
        _first,
    ),
    2: Level(
        "larger batches in any order, equal lengths, words",
        (
            "padded_shape",
            "pad_count",
            "enforced",
            "sorted_row",
            "sorted_indices",
            "batch_sizes",
            "batch_size",
            "packed_row",
            "packed_token",
            "alive",
            "ended",
            "last_column",
        ),
        _second,
    ),
    3: Level(
        "both directions, layers, padding on the left, refusals",
        (
            "joins_backward",
            "final_backward",
            "fed_backward",
            "enforced",
            "sorted_row",
            "sorted_indices",
            "batch_sizes",
            "packed_row",
            "packed_token",
            "ended",
            "last_column",
            "unpacked_width",
        ),
        _third,
    ),
}
