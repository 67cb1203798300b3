"""Experiment: which model learns which task, and how it reads a padded sequence; and the tasks' labelled sequences."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

import torch
from torch import Generator, Tensor
from torch.nn.functional import one_hot

from packviz.errors import PackvizError
from packviz.inputs.cell_kinds import Cell
from packviz.text import Brief, shown
from packviz.validate import choice, integer, is_number

__all__ = ["EXTRA_PADDING", "READS", "Experiment", "Readout", "Split", "Task", "first_token", "vowels", "vowels_credit"]

Readout = Literal["naive", "last_valid", "packed", "mean"]
Task = Literal["vowels", "first_token"]

EXTRA_PADDING = (0, 20, 100)
# names of the readouts in comparisons
READS = {"naive": "last column", "last_valid": "last valid step", "packed": "packed", "mean": "mean"}
MAX_HIDDEN = 512
MAX_SEED = 2**63 - 1
LARGEST_LR = 1.0


@dataclass(frozen=True, repr=False)
class Experiment(Brief):
    """The settings of one training, which is repeated for each seed.

    Raises PackvizError for any other value.
    """

    cell: Cell = "gru"  # "rnn", "gru" or "lstm"; one layer
    hidden_size: int = 24  # H, 1 to 512
    # what the linear layer reads: "naive", the last column of the padded output; "last_valid", the padded output at
    # lengths - 1; "packed", h_n of the packed batch; "mean", the padded output averaged over valid steps
    readout: Readout = "packed"
    bidirectional: bool = False  # D = 2 instead of 1
    # 0, 20 or 100 columns of zeros after the longest sequence of each batch, in training and testing
    extra_padding: int = 0
    task: Task = "vowels"  # "vowels" or "first_token"
    epochs: int = 12  # passes over the training set, at least 1
    batch_size: int = 30  # sequences in a batch, at least 1
    lr: float = 0.01  # the learning rate of Adam, above 0, at most 1
    # of the weights and of the order of the batches, each from 0 to 2**63 - 1, no duplicates
    seeds: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        given: dict[str, object] = vars(self)
        choices: dict[str, Sequence[object]] = {"extra_padding": EXTRA_PADDING, "bidirectional": (False, True)}
        choices |= {"cell": get_args(Cell), "readout": get_args(Readout), "task": get_args(Task)}
        kept = {name: choice(name, given[name], among) for name, among in choices.items()}
        for name, most in (("hidden_size", MAX_HIDDEN), ("epochs", None), ("batch_size", None)):
            kept[name] = integer(name, given[name], 1, most)
        if not is_number(self.lr) or not 0 < self.lr <= LARGEST_LR:  # rejects nan
            fix = "choose a number such as 0.01"
            raise PackvizError("lr", expected="a number above 0, at most 1", got=shown(self.lr), fix=fix)
        kept |= {"lr": float(self.lr), "seeds": _seeds(self.seeds)}
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        """Return the settings that charts compare: "last valid step, two directions, 20 extra pads"."""
        ways = ["two directions"] if self.bidirectional else []
        pads = [f"{self.extra_padding} extra pads"] if self.extra_padding else []
        return ", ".join([READS[self.readout], *ways, *pads])

    @property
    def data(self) -> "Split":
        """Return the sequences of the task."""
        return vowels() if self.task == "vowels" else first_token()


def _seeds(value: object) -> tuple[int, ...]:
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    seeds = tuple(integer("seeds", seed, 0, MAX_SEED) for seed in values)
    if not seeds or len(set(seeds)) < len(seeds):
        expected, fix = "a few integers without duplicates", "give seeds such as (0, 1, 2)"
        raise PackvizError("seeds", expected=expected, got=f"{value!r:.60}", fix=fix)
    return seeds


@dataclass(frozen=True, eq=False, repr=False)
class Split(Brief):
    """Labelled sequences of different lengths."""

    train_x: tuple[Tensor, ...]  # tuples of (T, F) float32
    train_y: Tensor  # (number of sequences,) int64, classes from 0
    test_x: tuple[Tensor, ...]
    test_y: Tensor

    @property
    def features(self) -> int:
        """Return F."""
        return self.train_x[0].size(1)

    @property
    def classes(self) -> int:
        """Return the number of classes."""
        return int(self.train_y.max()) + 1

    @property
    def majority_baseline(self) -> float:
        """Return the percentage of the test set in its most frequent class."""
        return 100 * int(torch.bincount(self.test_y).max()) / len(self.test_y)


@cache
def vowels() -> Split:
    """Return Japanese Vowels in its original split: 270 utterances for training, 30 per speaker, and 370 for testing.

    Every utterance is (T, 12), T from 7 to 29; the class, 0 to 8, is the speaker's label minus one. Source and licence:
    see ``vowels_credit``.
    """
    head, body = _stored()
    planes = torch.frombuffer(bytearray(body), dtype=torch.uint8).view(4, -1)  # the lowest byte of each value first
    millionths = planes.T.contiguous().view(torch.int32).flatten()  # the source gives six decimals
    values = (millionths.double() / 1_000_000).float()  # the float32 nearest to the decimal
    utterances = torch.split(values, [12 * length for length in head["lengths"]])
    x = tuple(utterance.view(12, -1).T.contiguous() for utterance in utterances)  # (T, 12)
    y = torch.tensor(head["labels"], device="cpu") - 1
    train = head["train"]
    return Split(x[:train], y[:train], x[train:], y[train:])


def vowels_credit() -> str:
    """Return the credit required where the vowels are shown (CC BY 4.0)."""
    credit: str = _stored()[0]["credit"]
    return credit


@cache
def _stored() -> tuple[dict[str, Any], bytes]:
    """Return the header, which describes the encoding, and the bytes of the values."""
    raw = gzip.decompress(files("packviz.lab.training").joinpath("vowels_split.gz").read_bytes())
    head, _, body = raw.partition(b"\n")
    return json.loads(head), body


@cache
def first_token(seed: int = 0) -> Split:
    """Return sequences of 3 to 12 tokens of four kinds, whose class is the first token; the rest is noise.

    A token is one-hot, a row of four numbers with a single 1; a pad, four zeros, is none of them. 240 sequences are
    for training and 400 for testing, the same for the same seed.
    """
    generator = torch.Generator("cpu").manual_seed(seed)
    return Split(*_labelled(240, generator), *_labelled(400, generator))


def _labelled(count: int, generator: Generator) -> tuple[tuple[Tensor, ...], Tensor]:
    lengths = torch.randint(3, 13, (count,), generator=generator, device="cpu").tolist()
    ids = [torch.randint(4, (length,), generator=generator, device="cpu") for length in lengths]
    return tuple(one_hot(each, 4).float() for each in ids), torch.stack([each[0] for each in ids])
