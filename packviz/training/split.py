"""Split: labelled sequences for training and for testing, and the real ones of the project: Japanese Vowels."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor

__all__ = ["Split", "vowels", "vowels_credit"]

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
    def commonest(self) -> float:
        """Return the percent of the test set that the same answer to every sequence gets right at best."""
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
    raw = gzip.decompress(files("packviz").joinpath("data", "vowels_split.gz").read_bytes())
    head, _, body = raw.partition(b"\n")
    return json.loads(head), body
