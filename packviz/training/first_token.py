"""A task in which the answer is the first token: whoever forgets it over the rest, or over pads, can only guess."""

from __future__ import annotations

import torch
from torch import Generator, Tensor
from torch.nn.functional import one_hot

from packviz.training.split import Split

__all__ = ["CLASSES", "first_token"]

CLASSES = 4
TRAIN, TEST = 240, 400
SHORTEST, LONGEST = 3, 12


def first_token(seed: int = 0) -> Split:
    """Return sequences of 3 to 12 tokens, four kinds of token, whose class is the first token; the rest is noise.

    A token is a row of four numbers with a single 1 (one-hot); a pad, four zeros, is none of them. 240 sequences are
    to train with and 400 to test, the same for the same seed.
    """
    generator = torch.Generator("cpu").manual_seed(seed)
    train, test = _drawn(TRAIN, generator), _drawn(TEST, generator)
    return Split(_rows(train), _answers(train), _rows(test), _answers(test))


def _drawn(count: int, generator: Generator) -> list[Tensor]:
    """Return `count` sequences of ids, (T,) int64."""
    lengths = torch.randint(SHORTEST, LONGEST + 1, (count,), generator=generator, device="cpu").tolist()
    return [torch.randint(CLASSES, (length,), generator=generator, device="cpu") for length in lengths]


def _rows(sequences: list[Tensor]) -> tuple[Tensor, ...]:
    return tuple(one_hot(ids, CLASSES).float() for ids in sequences)


def _answers(sequences: list[Tensor]) -> Tensor:
    return torch.stack([ids[0] for ids in sequences])
