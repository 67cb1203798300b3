"""The built-in batches: short ones to edit, two real ones, and one of a hundred sequences."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

import torch
from torch import Tensor

from packviz.text import Brief
from packviz.validate import choice

# A batch of 100 sequences and 818 tokens, known by its batch_sizes; packing it gives data of size (818, 200).
HUNDRED_BATCH_SIZES = (100, 100, 100, 100, 100, 99, 77, 58, 35, 25, 11, 5, 3, 2, 2, 1)
HUNDRED_FEATURES = 200
HUNDRED_SEED = 818


@dataclass(frozen=True, repr=False)
class Example(Brief):
    """One built-in batch: its key, a title for a picker, its text, and its credit.

    `text` is None for a batch of tensors, which is too long to type: `tensors` returns them, (len, F) each.
    """

    key: str
    title: str
    text: str | None
    credit: str | None = None
    tensors: Callable[[], list[Tensor]] | None = None


def example(key: str) -> Example:
    """Return the example with that key; raises PackvizError if there is none."""
    keys = [each.key for each in EXAMPLES]
    return EXAMPLES[keys.index(choice("example", key, keys))]


def _vowels() -> list[Tensor]:
    """Return nine recordings, (len, 12) each, len from 7 to 26."""
    return [torch.tensor(utterance, device="cpu") for utterance in _VOWELS["utterances"]]


def _hundred() -> list[Tensor]:
    """Return random values, (len, 200) each, not sorted by length."""
    generator = torch.Generator().manual_seed(HUNDRED_SEED)
    # len_b = number of time steps at which more than b sequences are live: lengths and batch_sizes are conjugate
    lengths = [sum(size > b for size in HUNDRED_BATCH_SIZES) for b in range(HUNDRED_BATCH_SIZES[0])]
    order = torch.randperm(len(lengths), generator=generator, device="cpu").tolist()
    return [torch.randn(lengths[b], HUNDRED_FEATURES, generator=generator, device="cpu") for b in order]


def _data(name: str) -> str:
    return files("packviz.inputs").joinpath("data", name).read_text(encoding="utf-8")


_VOWELS = json.loads(_data("japanese_vowels.json"))
EXAMPLES: tuple[Example, ...] = (
    Example("sentences", "three short sentences", "I love cats\nshe sleeps\nwe sing old songs"),
    Example("unsorted", "three sequences that are not sorted by length", "1 2 3\n4 5\n6 7 8 9"),
    Example("forum", "three sequences that are sorted already, the longest first", "1 2 3 4\n5 6\n7"),
    Example("words", "four lines of one to three words", "ready\non your mark\nget set\ngo"),
    Example("episodes", "a rollout: three episodes of numbers", "0.1 0.4 0.8 0.9\n-0.2 0.3\n0.5 0.1 -0.6"),
    Example(
        "zen",
        "a poem of 19 lines: the Zen of Python",
        _data("zen.txt").strip(),
        "Tim Peters, The Zen of Python, public domain.",
    ),
    Example("vowels", "recordings of nine speakers of Japanese, as vectors", None, _VOWELS["credit"], _vowels),
    Example("hundred", "a large batch: 100 sequences, 818 tokens", None, tensors=_hundred),
)
