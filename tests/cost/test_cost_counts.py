"""Counts, against a grid counted cell by cell and against torch's own tensors."""

import random

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from trace_cases import random_case, random_lengths

from packviz.compute.trace import trace, trace_module
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.lab.cost import Amount, counts, counts_of


@pytest.mark.parametrize("seed", range(60))
def test_cell_updates_are_the_cells_that_a_loop_over_the_grid_visits(seed: int) -> None:
    draw = random.Random(seed)
    lengths = random_lengths(draw, draw.randint(1, 20), draw.randint(1, 12))
    layers, both = draw.randint(1, 3), draw.random() < 0.5
    ways = 2 if both else 1
    grid = [(b, t) for b in range(len(lengths)) for t in range(max(lengths))]
    valid = [(b, t) for b, t in grid if t < lengths[b]]
    found = counts(lengths, 3, 4, num_layers=layers, bidirectional=both)
    assert found.updates == Amount(len(grid) * layers * ways, len(valid) * layers * ways)
    assert found.steps == Amount(max(lengths), max(lengths))
    assert found.spared == (len(grid) - len(valid)) * layers * ways
    assert found.fill == pytest.approx(len(valid) / len(grid))


@pytest.mark.parametrize("seed", range(60))
def test_bytes_are_those_of_torchs_own_tensors(seed: int) -> None:
    case = random_case(seed)
    x, packed, module = case.x, case.packed, case.module
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        padded_output = module(x)[0]
        output = module(packed, case.hx)[0]
    unsorted = pack_padded_sequence(x, torch.tensor(case.lengths), module.batch_first, enforce_sorted=False)
    found = counts_of(trace_module(module, x, case.lengths, enforce_sorted=case.enforce_sorted, hx=case.hx))
    assert found.inputs == Amount(x.nbytes, packed.data.nbytes)
    assert found.outputs == Amount(padded_output.nbytes, output.data.nbytes)
    order = (unsorted.batch_sizes, unsorted.sorted_indices, unsorted.unsorted_indices)
    assert found.indices == sum(indices.nbytes for indices in order)
    assert found.both_inputs == x.nbytes + packed.data.nbytes + found.indices
    assert found.steps == Amount(x.size(1 if module.batch_first else 0), len(packed.batch_sizes))


def test_a_trace_that_torch_refuses_is_counted_all_the_same() -> None:
    refused = trace(Batch.parse("1\n2 3"), Config(enforce_sorted=True))
    assert refused.error
    assert counts_of(refused).updates == Amount(4, 3)


def test_packing_spares_updates_but_no_sequential_step() -> None:
    found = counts([100, 1, 1, 1])
    assert found.updates == Amount(400, 103)
    assert found.steps.ratio == 1.0


def test_the_module_of_the_trace_counts() -> None:
    batch = Batch.parse("1 2 3\n4 5\n6")
    found = counts_of(trace(batch, Config(cell="lstm", num_layers=2, bidirectional=True, hidden_size=5)))
    module = nn.LSTM(1, 5, 2, bidirectional=True)
    assert found.updates == Amount(9 * 4, 6 * 4)
    assert found.outputs.padded == module(torch.zeros(3, 3, 1))[0].nbytes


@pytest.mark.parametrize(
    "wrong", [[], [0], [3, -1], [2.5], [True], ["3"], torch.tensor([2.0]), torch.tensor(3), [2**40]]
)
def test_what_is_no_length_is_refused(wrong: list) -> None:
    with pytest.raises(PackvizError, match="lengths"):
        counts(wrong)


@pytest.mark.parametrize("wrong", [{"features": 0}, {"hidden_size": 1.5}, {"num_layers": -1}, {"width": 2}])
def test_what_is_no_size_is_refused(wrong: dict) -> None:
    with pytest.raises(PackvizError, match=next(iter(wrong))):
        counts([3, 1], **wrong)
