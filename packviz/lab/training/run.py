"""Training that reports after every epoch: a generator that may be closed at any time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from time import perf_counter

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy, pad
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.optim import Adam

from packviz.compute.weights import drawn, generator_of
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.inputs.module import states_of
from packviz.inputs.tensors import valid_mask
from packviz.lab.training.experiment import Experiment, Split

__all__ = ["EpochResult", "Model", "pad_batch", "read", "run_all"]

MAX_GRADIENT = 1.0  # gradients are clipped to this norm, so that no single batch can derail the training


@dataclass(frozen=True)
class EpochResult:
    """The progress of one training after an epoch."""

    experiment: Experiment  # which training
    seed: int
    epoch: int  # the number of epochs done, from 1
    train_loss: float  # mean cross entropy over the sequences during this epoch, in nats
    test_accuracy: float  # percent of the test sequences classified correctly right after this epoch
    seconds: float  # spent on this seed so far, without the time between two steps of the generator

    @property
    def finished(self) -> bool:
        """Return whether this was the last epoch of this seed."""
        return self.epoch == self.experiment.epochs


class Model(nn.Module):
    """Give each sequence a score per class; the weights are those that torch draws after manual_seed(seed).

    They are float64: in float32, rounding errors grow until two ways to compute the same thing end with different
    accuracies (an LSTM's last valid step and its packed h_n did within six epochs).
    """

    def __init__(self, experiment: Experiment, features: int, classes: int, seed: int) -> None:
        super().__init__()
        H, D = experiment.hidden_size, 2 if experiment.bidirectional else 1
        self.readout = experiment.readout
        build, generator = CELL_KINDS[experiment.cell].build, generator_of(seed)
        settings = {"batch_first": True, "bidirectional": D == 2, "dtype": torch.float64}
        self.cell = drawn(build, features, H, **settings, generator=generator)
        self.head = drawn(nn.Linear, D * H, classes, dtype=torch.float64, generator=generator)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Return (B, classes): the scores of padded sequences x (B, T, F) float64 of `lengths` (B,)."""
        scores: Tensor = self.head(read(self.cell, x, lengths, self.readout))
        return scores


def read(cell: nn.RNNBase, x: Tensor, lengths: Tensor, readout: str) -> Tensor:
    """Return (B, D*H): the readout of a run over padded x (B, T, F) of `lengths` (B,)."""
    if readout == "packed":
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        h_n, _ = states_of(cell(packed)[1])  # (D, B, H)
        return torch.cat(h_n.unbind(0), 1)
    output: Tensor = cell(x)[0]  # (B, T, D*H): pads included
    if readout == "naive":
        return output[:, -1]
    if readout == "last_valid":
        return output[torch.arange(len(lengths), device="cpu"), lengths - 1]
    is_pad = ~valid_mask(lengths, x.size(1))  # (B, T)
    return output.masked_fill(is_pad[:, :, None], 0.0).sum(1) / lengths[:, None]


def pad_batch(sequences: Sequence[Tensor], extra_padding: int = 0) -> tuple[Tensor, Tensor]:
    """Return x (B, T + extra_padding, F) float64, zeros after each sequence (len, F), and the lengths (B,) int64.

    T is the longest of these sequences.
    """
    lengths = torch.tensor([len(sequence) for sequence in sequences], device="cpu")
    x = pad_sequence(list(sequences), batch_first=True).double()  # (B, T, F)
    return pad(x, (0, 0, 0, extra_padding)), lengths


def run_all(experiments: Sequence[Experiment]) -> Iterator[EpochResult]:
    """Yield the progress of all experiments after every epoch: the first seed of each, then the second, and so on.

    If you stop early, all experiments have the same number of seeds except the one in progress. The same seed gives
    the same numbers on one machine; neither the random state nor the settings of the process change. A throwaway
    model warms up on one batch first, so that start-up cost is not timed.
    """
    for one in experiments[:1]:
        data, few = one.data, one.batch_size
        tiny = Split(data.train_x[:few], data.train_y[:few], data.test_x[:few], data.test_y[:few])
        next(_train(one, 0, tiny))
    for seeds in zip_longest(*(one.seeds for one in experiments)):
        for one, seed in zip(experiments, seeds, strict=True):
            if seed is not None:
                yield from _train(one, seed, one.data)


def _train(experiment: Experiment, seed: int, split: Split) -> Iterator[EpochResult]:
    began = perf_counter()
    model = Model(experiment, split.features, split.classes, seed)
    order = torch.Generator("cpu").manual_seed(seed)
    optimizer = Adam(model.parameters(), experiment.lr)
    test_x, test_lengths = pad_batch(split.test_x, experiment.extra_padding)
    seconds = 0.0
    for epoch in range(1, experiment.epochs + 1):
        loss = _learn(model, optimizer, split, experiment, order)
        with torch.no_grad():
            right = model(test_x, test_lengths).argmax(1) == split.test_y
        seconds += perf_counter() - began
        yield EpochResult(experiment, seed, epoch, loss, 100 * int(right.sum()) / len(right), seconds)
        began = perf_counter()


@torch.enable_grad()
def _learn(model: Model, optimizer: Adam, split: Split, experiment: Experiment, order: Generator) -> float:
    """Train on the whole training set once, in random order; return the mean loss."""
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
