"""Level: how hard a round is, in the kinds of its questions and in the batches that they are asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import get_args

from packviz.config import Cell, Config
from packviz.quiz.batches import numbers, random_lengths, words

__all__ = ["LEVELS", "Level"]

Drawn = tuple[str, Config]
_CELLS: tuple[Cell, ...] = get_args(Cell)
_ABOUT_THE_SORT = ("sorted_row", "sorted_indices")  # on a sorted batch they ask for what came


@dataclass(frozen=True)
class Level:
    """Say what is asked at one level.

    told   what its batches are like, in a few words
    kinds  of predictions, keys of packviz.predictions.KINDS
    draw   returns a random batch, as text, and the settings, for a question of one kind
    """

    told: str
    kinds: tuple[str, ...]
    draw: Callable[[Random, str], Drawn]


def _first(draw: Random, kind: str) -> Drawn:
    in_order = draw.random() < 0.7 and kind not in _ABOUT_THE_SORT
    lengths = random_lengths(draw, count=(3, 4), longest=(3, 5), ties=False, in_order=in_order)
    return numbers(draw, lengths), Config(cell=draw.choice(_CELLS))


def _second(draw: Random, kind: str) -> Drawn:
    in_order = kind == "promised" and draw.random() < 0.5
    lengths = random_lengths(draw, count=(4, 6), longest=(3, 7), ties=draw.random() < 0.6, in_order=in_order)
    write = words if kind == "padded_shape" or draw.random() < 0.5 else numbers
    return write(draw, lengths), Config(cell=draw.choice(_CELLS), batch_first=draw.random() < 0.5)


def _third(draw: Random, kind: str) -> Drawn:
    promise = kind == "enforced" or (kind not in _ABOUT_THE_SORT[:1] and draw.random() < 0.3)
    in_order = promise and (kind != "enforced" or draw.random() < 0.5)
    lengths = random_lengths(draw, count=(4, 6), longest=(4, 8), ties=draw.random() < 0.6, in_order=in_order)
    write = words if draw.random() < 0.4 else numbers
    widened = kind == "last_column" and draw.random() < 0.2
    config = Config(
        cell=draw.choice(_CELLS),
        num_layers=draw.choice((1, 2, 2, 3)),
        bidirectional=kind.endswith("_backward") or draw.random() < 0.6,
        batch_first=draw.random() < 0.6,
        enforce_sorted=promise,
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
            "promised",
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
            "promised",
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
