"""The tasks: labelled sequences to train and to test with, the real Japanese Vowels and a made-up one."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import one_hot

__all__ = ["CLASSES", "Split", "first_token", "vowels", "vowels_credit"]

FEATURES = 12
MILLIONTHS = 1_000_000  # the source gives six digits behind the point


@dataclass(frozen=True, eq=False)
class Split:
    """Hold labelled sequences of different lengths.

    train_x, test_x   tuples of (T, F) float32
    train_y, test_y   (number of sequences,) int64, classes from 0
    """

    train_x: tuple[Tensor, ...]
    train_y: Tensor
    test_x: tuple[Tensor, ...]
    test_y: Tensor

    @property
    def features(self) -> int:
        """Return F."""
        return self.train_x[0].size(1)

    @property
    def classes(self) -> int:
        """Return how many classes there are."""
        return int(self.train_y.max()) + 1

    @property
    def majority_baseline(self) -> float:
        """Return the percent of the test set that is in its commonest class."""
        return 100 * int(torch.bincount(self.test_y).max()) / len(self.test_y)


def vowels() -> Split:
    """Return Japanese Vowels in its original split: 270 utterances, 30 a speaker, to train with, and 370 to test.

    Every utterance is (T, 12), T from 7 to 29; the class, 0 to 8, is the speaker's label less one. Source and licence:
    see ``vowels_credit``.
    """
    head, body = _stored()
    planes = torch.frombuffer(bytearray(body), dtype=torch.uint8).view(4, -1)  # the lowest byte of each value first
    whole = planes.T.contiguous().view(torch.int32).flatten()
    values = (whole.double() / MILLIONTHS).float()  # the float32 that is nearest to the written decimal
    rows = torch.split(values, [FEATURES * length for length in head["lengths"]])
    x = tuple(row.view(FEATURES, -1).T.contiguous() for row in rows)  # (T, 12)
    y = torch.tensor(head["labels"], device="cpu") - 1
    train = head["train"]
    return Split(x[:train], y[:train], x[train:], y[train:])


def vowels_credit() -> str:
    """Return who is to be credited where the vowels are shown (CC BY 4.0)."""
    credit: str = _stored()[0]["credit"]
    return credit


def _stored() -> tuple[dict[str, Any], bytes]:
    """Return the head, which says how the values are written, and their bytes."""
    raw = gzip.decompress(files("packviz.lab.training").joinpath("vowels_split.gz").read_bytes())
    head, _, body = raw.partition(b"\n")
    return json.loads(head), body


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
