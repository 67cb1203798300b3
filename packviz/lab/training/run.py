"""Train, and tell after every epoch how far it has come: a generator that may be closed at any time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy, pad
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import pad_sequence
from torch.optim import Adam

from packviz.lab.training.experiment import Experiment
from packviz.lab.training.model import Model
from packviz.lab.training.tasks import Split, first_token, vowels

__all__ = ["Progress", "pad_batch", "run_all", "task_data", "train"]

MAX_GRADIENT = 1.0  # a longer gradient is shortened to this: no single batch can throw the training off


@dataclass(frozen=True)
class Progress:
    """Tell how far one training has come after one epoch.

    experiment, seed  which training
    epoch, epochs     how many epochs are done, from 1, of how many
    train_loss        mean cross entropy over the sequences of this epoch, while it learned, in nats
    test_accuracy     percent of the test sequences that are named right after this epoch
    seconds           spent on this seed so far, without the time between two steps of the generator
    done              share of all that the generator was asked for, 0.0 to 1.0, counted in epochs
    """

    experiment: Experiment
    seed: int
    epoch: int
    epochs: int
    train_loss: float
    test_accuracy: float
    seconds: float
    done: float

    @property
    def finished(self) -> bool:
        """Return whether this was the last epoch of this seed."""
        return self.epoch == self.epochs


def train(experiment: Experiment) -> Iterator[Progress]:
    """Yield the progress of an experiment after every epoch, one seed after the other.

    The same seed gives the same numbers on one machine. Neither the random numbers nor the settings of the process
    are touched.
    """
    return run_all([experiment])


def run_all(experiments: Sequence[Experiment]) -> Iterator[Progress]:
    """Yield the progress of all experiments: the first seed of each, then the second seed of each, and so on.

    If you stop early, all experiments have the same number of seeds except the one in progress. A throwaway model
    warms up first, so start-up cost is not timed.
    """
    most = max((len(experiment.seeds) for experiment in experiments), default=0)
    runs = [(one, one.seeds[i]) for i in range(most) for one in experiments if i < len(one.seeds)]
    total, before = sum(one.epochs for one, _ in runs), 0
    if experiments:
        _warm_up(experiments[0])
    for experiment, seed in runs:
        for progress in _train_seed(experiment, seed):
            yield replace(progress, done=(before + progress.epoch) / total)
        before += experiment.epochs


def task_data(experiment: Experiment) -> Split:
    """Return the sequences that the experiment learns from and is tested with."""
    return vowels() if experiment.task == "vowels" else first_token()


def pad_batch(sequences: Sequence[Tensor], extra_padding: int = 0) -> tuple[Tensor, Tensor]:
    """Return x (B, T + extra_padding, F) float64, zeros where there is no sequence, and the lengths (B,) int64.

    T is the longest of these sequences, (len, F) each.
    """
    lengths = torch.tensor([len(sequence) for sequence in sequences], device="cpu")
    x = pad_sequence(list(sequences), batch_first=True).double()  # (B, T, F)
    return pad(x, (0, 0, 0, extra_padding)), lengths


def _train_seed(experiment: Experiment, seed: int) -> Iterator[Progress]:
    began = perf_counter()
    split = task_data(experiment)
    weights, order = (torch.Generator("cpu").manual_seed(seed) for _ in range(2))
    model = Model(experiment, split.features, split.classes, weights)
    optimizer = Adam(model.parameters(), experiment.lr)
    test_x, test_lengths = pad_batch(split.test_x, experiment.extra_padding)
    seconds = perf_counter() - began
    for epoch in range(1, experiment.epochs + 1):
        began = perf_counter()
        loss = _learn(model, optimizer, split, experiment, order)
        accuracy = _accuracy(model, test_x, test_lengths, split.test_y)
        seconds += perf_counter() - began
        yield Progress(experiment, seed, epoch, experiment.epochs, loss, accuracy, seconds, epoch / experiment.epochs)


def _warm_up(experiment: Experiment) -> None:
    """Learn from one batch and name it with a model that is thrown away, from random numbers of its own."""
    split, generator = task_data(experiment), torch.Generator("cpu").manual_seed(0)
    model = Model(experiment, split.features, split.classes, generator)
    size = experiment.batch_size
    few = replace(split, train_x=split.train_x[:size], train_y=split.train_y[:size])
    _learn(model, Adam(model.parameters(), experiment.lr), few, experiment, generator)
    x, lengths = pad_batch(few.train_x, experiment.extra_padding)
    _accuracy(model, x, lengths, few.train_y)


@torch.enable_grad()
def _learn(model: Model, optimizer: Adam, split: Split, experiment: Experiment, order: Generator) -> float:
    """Go through the training set once, in an order of its own; return the mean loss."""
    shuffled = torch.randperm(len(split.train_x), generator=order, device="cpu")
    total = 0.0
    for batch in torch.split(shuffled, experiment.batch_size):
        x, lengths = pad_batch([split.train_x[i] for i in batch.tolist()], experiment.extra_padding)
        loss = cross_entropy(model(x, lengths), split.train_y[batch])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(model.parameters(), MAX_GRADIENT)
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(shuffled)


@torch.no_grad()
def _accuracy(model: Model, x: Tensor, lengths: Tensor, y: Tensor) -> float:
    """Return the percent of sequences whose highest score is at their class."""
    right = model(x, lengths).argmax(1) == y
    return 100 * int(right.sum()) / len(y)
