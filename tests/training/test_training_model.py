"""The four readouts are torch's own numbers; training learns, reports every epoch, and repeats itself for a seed."""

import random
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from seeds import seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence

from packviz.lab.training import EpochResult, Experiment, Model, pad_batch, read, run_all

CELLS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
READOUTS = ("naive", "last_valid", "packed", "mean")
each_case = pytest.mark.parametrize(("cell", "bidirectional", "seed"), [*product(CELLS, (False, True), seeds(6))])


def made(cell: Any, bidirectional: bool, seed: int, readout: Any = "packed") -> tuple[Model, list[Tensor]]:
    """Return a model and sequences of 1 to 9 steps, 3 features each."""
    draw, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    H, B = draw.randint(1, 6), draw.choice((1, 2, 5, 18))
    experiment = Experiment(cell=cell, bidirectional=bidirectional, hidden_size=H, readout=readout)
    sequences = [torch.randn(draw.randint(1, 9), 3, generator=generator) for _ in range(B)]
    return Model(experiment, 3, 4, seed), sequences


def close(ours: Tensor, torchs: Tensor) -> bool:
    return ours.shape == torchs.shape and torch.allclose(ours, torchs, rtol=0, atol=1e-12)


@each_case
@torch.no_grad()
def test_weights_and_readouts_are_torchs_own_numbers(cell: str, bidirectional: bool, seed: int) -> None:
    model, sequences = made(cell, bidirectional, seed)
    H, D = model.cell.hidden_size, 1 + bidirectional
    packed = pack_sequence([sequence.double() for sequence in sequences], enforce_sorted=False)
    output, lengths = pad_packed_sequence(model.cell(packed)[0], batch_first=True)
    ends = [output[torch.arange(len(lengths)), lengths - 1, :H], output[:, 0, H:]][:D]  # of each direction
    with torch.random.fork_rng(devices=[]):  # the weights are those that torch draws
        torch.manual_seed(seed)
        module = CELLS[cell](3, H, bidirectional=bidirectional, dtype=torch.float64)
        wanted = nn.ModuleDict({"cell": module, "head": nn.Linear(D * H, 4, dtype=torch.float64)}).state_dict()
    assert wanted.keys() == model.state_dict().keys()
    assert all(torch.equal(weight, wanted[name]) for name, weight in model.state_dict().items())
    for extra in (0, 20):
        x, given = pad_batch(sequences, extra)
        assert torch.equal(given, lengths)
        seen, padded = {readout: read(model.cell, x, lengths, readout) for readout in READOUTS}, model.cell(x)[0]
        assert torch.equal(seen["naive"], padded[:, -1])
        assert close(seen["packed"], torch.cat(ends, 1))
        rows = list(zip(padded, lengths.tolist(), strict=True))
        assert close(seen["last_valid"], torch.stack([row[n - 1] for row, n in rows]))
        assert close(seen["mean"], torch.stack([row[:n].mean(0) for row, n in rows]))


@each_case
@torch.no_grad()
def test_pads_reach_only_the_naive_readout_and_the_backward_half(cell: str, bidirectional: bool, seed: int) -> None:
    model, sequences = made(cell, bidirectional, seed)
    H = model.cell.hidden_size
    cases = list(product(READOUTS, (0, 20, 100)))
    seen = {case: read(model.cell, *pad_batch(sequences, case[1]), case[0]) for case in cases}
    assert torch.equal(seen["packed", 0], seen["packed", 20])
    assert torch.equal(seen["packed", 0], seen["packed", 100])
    assert not close(seen["naive", 0], seen["naive", 20])
    assert close(seen["last_valid", 20][:, :H], seen["packed", 20][:, :H])
    alone = torch.stack([model.cell(sequence.double()[None])[0][0].mean(0) for sequence in sequences])
    assert close(seen["mean", 20][:, :H], alone[:, :H])
    if bidirectional:  # its backward half comes from 20 pads and has read one token
        assert not close(seen["last_valid", 20][:, H:], seen["packed", 20][:, H:])


@pytest.mark.parametrize(("cell", "seed"), [*product(CELLS, seeds(6))])
def test_the_gradients_of_last_valid_and_packed_are_the_same(cell: str, seed: int) -> None:
    gradients = []
    for readout in ("last_valid", "packed"):
        model, sequences = made(cell, False, seed, readout)
        loss = model(*pad_batch(sequences, 20)).square().sum()
        gradients.append(torch.cat([part.flatten() for part in torch.autograd.grad(loss, [*model.parameters()])]))
    assert close(*gradients)
    assert float(gradients[0].abs().max()) > 0


@pytest.mark.parametrize("extra", [0, 20, 100])
def test_extra_padding_adds_exactly_that_many_columns_of_zeros(extra: int) -> None:
    sequences = [torch.ones(length, 2) for length in (3, 1, 5)]
    x, lengths = pad_batch(sequences, extra)
    assert x.shape == (3, 5 + extra, 2)
    assert lengths.tolist() == [3, 1, 5]
    assert torch.equal(x[:, :5], pad_sequence(sequences, batch_first=True).double())
    assert not x[:, 5:].any()
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 2, 1, 1]


QUICK = Experiment(task="first_token", hidden_size=8, epochs=3, batch_size=60, seeds=(0, 1))
THOROUGH = replace(QUICK, hidden_size=16, epochs=14, lr=0.02, seeds=(0,))


def trained(one: Experiment, **changed: Any) -> list[EpochResult]:
    return list(run_all([replace(one, **changed)]))


def numbers(results: list[EpochResult]) -> list[tuple[int, int, float, float]]:
    """Return all but the seconds."""
    return [(p.seed, p.epoch, p.train_loss, p.test_accuracy) for p in results]


@pytest.mark.slow
def test_training_finds_the_first_token_unless_pads_are_read() -> None:
    naive, last = (trained(THOROUGH, readout=readout, extra_padding=20) for readout in ("naive", "last_valid"))
    assert last[0].train_loss > 1 > 10 * last[-1].train_loss  # ln 4 = 1.386 is guessing
    assert last[-1].test_accuracy > 95
    assert last[-1].test_accuracy > naive[-1].test_accuracy + 30


def test_every_experiment_has_its_first_seed_before_any_has_its_second() -> None:
    other = replace(QUICK, readout="naive", seeds=(7, 8, 9), epochs=1)
    ends = [(p.experiment.readout, p.seed) for p in run_all([QUICK, other]) if p.finished]
    assert ends == [("packed", 0), ("naive", 7), ("packed", 1), ("naive", 8), ("naive", 9)]
    assert list(run_all([])) == []


@pytest.mark.parametrize(("cell", "bidirectional"), [*product(("rnn", "gru", "lstm"), (False, True))])
def test_the_same_seed_gives_the_same_numbers(cell: str, bidirectional: bool) -> None:
    one = replace(QUICK, cell=cell, bidirectional=bidirectional, epochs=2)  # type: ignore[arg-type]
    first = trained(one)
    assert numbers(first) == numbers(trained(one))
    assert first[1].train_loss != first[3].train_loss  # another seed


@pytest.mark.slow
def test_a_training_does_not_depend_on_what_ran_before() -> None:
    alone = numbers(trained(QUICK))
    among = [p for p in run_all([replace(QUICK, readout="naive"), QUICK]) if p.experiment == QUICK]
    assert numbers(among) == alone
    between = []
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        for p in run_all([QUICK]):
            torch.manual_seed(12)
            assert not torch.is_grad_enabled()
            between.append(p)
    assert numbers(between) == alone
