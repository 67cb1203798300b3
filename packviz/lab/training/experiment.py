"""Experiment: which model learns which task, and how the last of a padded sequence is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from packviz.errors import PackvizError
from packviz.inputs.config import Cell
from packviz.text import shown
from packviz.validate import choice, integer, is_number

__all__ = ["EXTRA_PADDING", "Experiment", "Readout", "Task", "default_experiments"]

Readout = Literal["naive", "last_valid", "packed", "mean"]
Task = Literal["vowels", "first_token"]

EXTRA_PADDING = (0, 20, 100)
MAX_HIDDEN = 512
MAX_SEED = 2**63 - 1
LARGEST_LR = 1.0


@dataclass(frozen=True)
class Experiment:
    """Hold the settings of one training, which is done once for each seed.

    cell            "rnn", "gru" or "lstm"; one layer
    hidden_size     H, 1 to 512
    readout         what the linear layer reads: "naive", the last column of the padded output; "last_valid", the
                    padded output at lengths - 1; "packed", h_n of the packed batch; "mean", the padded output averaged
                    over valid steps
    bidirectional   D = 2 instead of 1
    extra_padding   0, 20 or 100 columns of zeros after the longest sequence of each batch, in training and in testing
    task            "vowels" or "first_token"
    epochs          how often the training set is gone through, at least 1
    batch_size      sequences in a batch, at least 1
    lr              the learning rate of Adam, above 0, at most 1
    seeds           of the weights and of the order of the batches, each from 0 to 2**63 - 1, none twice

    Raises PackvizError for any other value.
    """

    cell: Cell = "gru"
    hidden_size: int = 24
    readout: Readout = "packed"
    bidirectional: bool = False
    extra_padding: int = 0
    task: Task = "vowels"
    epochs: int = 12
    batch_size: int = 30
    lr: float = 0.01
    seeds: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        choice("cell", self.cell, get_args(Cell))
        choice("readout", self.readout, get_args(Readout))
        choice("task", self.task, get_args(Task))
        choice("extra_padding", self.extra_padding, EXTRA_PADDING)
        choice("bidirectional", self.bidirectional, (False, True))
        integer("hidden_size", self.hidden_size, 1, MAX_HIDDEN)
        integer("epochs", self.epochs, 1)
        integer("batch_size", self.batch_size, 1)
        object.__setattr__(self, "lr", _rate(self.lr))
        object.__setattr__(self, "seeds", _seeds(self.seeds))

    @property
    def name(self) -> str:
        """Return what tells experiments apart in a chart: "last valid, two directions, 20 extra pads"."""
        ways = ["two directions"] if self.bidirectional else []
        pads = [f"{self.extra_padding} extra pads"] if self.extra_padding else []
        return ", ".join([self.readout.replace("_", " "), *ways, *pads])


def default_experiments(task: Task = "vowels") -> tuple[Experiment, ...]:
    """Return the experiments that are run when nobody has chosen: four readouts, each with 0, 20 and 100 extra pads."""
    first = Experiment(task=task)
    return tuple(
        replace(first, readout=readout, extra_padding=extra) for extra in EXTRA_PADDING for readout in get_args(Readout)
    )


def _rate(value: object) -> float:
    if is_number(value) and 0 < value <= LARGEST_LR:  # False for nan
        return float(value)
    mend = "choose a number such as 0.01"
    raise PackvizError("lr", expected="a number above 0, at most 1", came=shown(value), mend=mend)


def _seeds(value: object) -> tuple[int, ...]:
    expected, mend = "a few whole numbers, none twice", "give seeds such as (0, 1, 2)"
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        came = "no seed" if isinstance(value, Sequence) and not value else shown(value)
        raise PackvizError("seeds", expected=expected, came=came, mend=mend)
    for seed in value:
        integer("seeds", seed, 0, MAX_SEED)
    if len(set(value)) < len(value):
        twice = next(seed for seed in value if list(value).count(seed) > 1)
        raise PackvizError("seeds", expected=expected, came=f"{twice} more than once", mend=mend)
    return tuple(value)
