"""The four readouts are torch's own numbers, and what pads do to each of them."""

import random
from itertools import product
from typing import Any

import pytest
import torch
from seeds import seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence

from packviz.lab.training import Experiment, Model, pad_batch, read

CELLS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
CASES = list(product(CELLS, (False, True), seeds(6)))
each_case = pytest.mark.parametrize(("cell", "bidirectional", "seed"), CASES)


def made(cell: Any, bidirectional: bool, seed: int, **settings: Any) -> tuple[Model, list[Tensor]]:
    """Return a model and sequences of 1 to 9 steps, 3 features each."""
    draw, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    H, B = draw.randint(1, 6), draw.choice((1, 2, 5, 18))
    experiment = Experiment(cell=cell, bidirectional=bidirectional, hidden_size=H, **settings)
    sequences = [torch.randn(draw.randint(1, 9), 3, generator=generator) for _ in range(B)]
    return Model(experiment, 3, 4, seed), sequences


def close(ours: Tensor, torchs: Tensor) -> bool:
    return ours.shape == torchs.shape and torch.allclose(ours, torchs, rtol=0, atol=1e-12)


@each_case
def test_the_weights_are_those_that_torch_would_draw(cell: str, bidirectional: bool, seed: int) -> None:
    H, ways = 3 + seed, 1 + bidirectional
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = CELLS[cell](5, H, bidirectional=bidirectional, dtype=torch.float64)
        head = nn.Linear(ways * H, 4, dtype=torch.float64)
    experiment = Experiment(cell=cell, bidirectional=bidirectional, hidden_size=H)  # type: ignore[arg-type]
    model = Model(experiment, 5, 4, seed)
    assert {name for name, _ in module.named_parameters()} == {name for name, _ in model.cell.named_parameters()}
    for name, parameter in module.named_parameters():
        assert torch.equal(parameter, getattr(model.cell, name)), name
    assert torch.equal(head.weight, model.head.weight)
    assert torch.equal(head.bias, model.head.bias)


@each_case
def test_naive_is_the_last_column_of_the_padded_output(cell: str, bidirectional: bool, seed: int) -> None:
    model, sequences = made(cell, bidirectional, seed)
    for extra in (0, 20):
        x, lengths = pad_batch(sequences, extra)
        with torch.no_grad():
            assert torch.equal(read(model.cell, x, lengths, "naive"), model.cell(x)[0][:, -1])


@each_case
def test_packed_is_h_n_and_so_the_packed_output_at_each_directions_end(
    cell: str, bidirectional: bool, seed: int
) -> None:
    model, sequences = made(cell, bidirectional, seed)
    x, lengths = pad_batch(sequences)
    with torch.no_grad():
        packed = pack_sequence([sequence.double() for sequence in sequences], enforce_sorted=False)
        output, _ = pad_packed_sequence(model.cell(packed)[0], batch_first=True)
        H = model.cell.hidden_size
        ends = [output[torch.arange(len(lengths)), lengths - 1, :H]]
        ends += [output[:, 0, H:]] if bidirectional else []
        assert close(read(model.cell, x, lengths, "packed"), torch.cat(ends, 1))


@each_case
def test_in_one_direction_the_last_valid_step_is_the_packed_state(cell: str, bidirectional: bool, seed: int) -> None:
    model, sequences = made(cell, bidirectional, seed)
    x, lengths = pad_batch(sequences, 20)
    H = model.cell.hidden_size
    with torch.no_grad():
        gathered, packed = (read(model.cell, x, lengths, readout) for readout in ("last_valid", "packed"))
    assert close(gathered[:, :H], packed[:, :H])
    if bidirectional:  # its backward half comes from 20 pads and has read one token
        assert not close(gathered[:, H:], packed[:, H:])


@each_case
def test_in_one_direction_the_mean_ignores_pads(cell: str, bidirectional: bool, seed: int) -> None:
    model, sequences = made(cell, bidirectional, seed)
    x, lengths = pad_batch(sequences, 20)
    H = model.cell.hidden_size
    with torch.no_grad():
        mean = read(model.cell, x, lengths, "mean")
        alone = torch.stack([model.cell(sequence.double()[None])[0][0].mean(0) for sequence in sequences])
        output = model.cell(x)[0]
    assert close(mean[:, :H], alone[:, :H])
    assert close(mean, torch.stack([row[:n].mean(0) for row, n in zip(output, lengths.tolist(), strict=True)]))


@each_case
def test_extra_padding_moves_the_naive_readout_and_no_packed_one(cell: str, bidirectional: bool, seed: int) -> None:
    model, sequences = made(cell, bidirectional, seed)
    with torch.no_grad():
        seen = {
            (readout, extra): read(model.cell, *pad_batch(sequences, extra), readout)
            for readout, extra in product(("naive", "packed"), (0, 20, 100))
        }
    assert torch.equal(seen["packed", 0], seen["packed", 20])
    assert torch.equal(seen["packed", 0], seen["packed", 100])
    assert not close(seen["naive", 0], seen["naive", 20])


@each_case
def test_the_gradients_of_last_valid_and_packed_are_the_same(cell: str, bidirectional: bool, seed: int) -> None:
    if bidirectional:
        return
    gradients = []
    for readout in ("last_valid", "packed"):
        model, sequences = made(cell, False, seed, readout=readout)
        model(*pad_batch(sequences, 20)).square().sum().backward()
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]))  # type: ignore[union-attr]
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
    assert torch.equal(x.sum((1, 2)), 2.0 * lengths)
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 2, 1, 1]


@each_case
def test_the_scores_are_the_linear_layer_of_what_was_read(cell: str, bidirectional: bool, seed: int) -> None:
    for readout in ("naive", "last_valid", "packed", "mean"):
        model, sequences = made(cell, bidirectional, seed, readout=readout)
        x, lengths = pad_batch(sequences)
        scores = model(x, lengths)
        assert scores.shape == (len(sequences), 4)
        assert torch.equal(scores, model.head(read(model.cell, x, lengths, readout)))
