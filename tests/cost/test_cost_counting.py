"""Counts and batches: a grid counted cell by cell, torch's own tensors, each sequence once, what sorting saves."""

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeds import seeds
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from trace_cases import random_case, random_lengths

from packviz.compute.trace import trace, trace_module
from packviz.facts import DISTRIBUTIONS, padding_cells
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.lab.cost import Amount, Batching, counts_of, ways

some_lengths = st.lists(st.integers(1, 60), min_size=1, max_size=80)


@pytest.mark.parametrize("seed", seeds(20))
def test_cell_updates_are_the_cells_that_a_loop_over_the_grid_visits(seed: int) -> None:
    draw = random.Random(seed)
    lengths = random_lengths(draw, draw.randint(1, 20), draw.randint(1, 12))
    layers, both = draw.randint(1, 3), draw.random() < 0.5
    ways = 2 if both else 1
    grid = [(b, t) for b in range(len(lengths)) for t in range(max(lengths))]
    valid = [(b, t) for b, t in grid if t < lengths[b]]
    batch = Batch.from_tensors([torch.zeros(length, 3) for length in lengths])
    found = counts_of(trace(batch, Config(num_layers=layers, bidirectional=both)))
    assert found.updates == Amount(len(grid) * layers * ways, len(valid) * layers * ways)
    assert found.steps == Amount(max(lengths), max(lengths))
    assert found.spared == (len(grid) - len(valid)) * layers * ways


@pytest.mark.parametrize("seed", seeds(20))
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
    assert found.indices == sum(indices.nbytes for indices in order if indices is not None)
    assert found.both_inputs == x.nbytes + packed.data.nbytes + found.indices
    assert found.steps == Amount(x.size(1 if module.batch_first else 0), len(packed.batch_sizes))


def test_a_trace_that_torch_refuses_is_counted_all_the_same() -> None:
    refused = trace(Batch.parse("1\n2 3"), Config(enforce_sorted=True))
    assert refused.error
    assert counts_of(refused).updates == Amount(4, 3)


def cut_by_name(lengths: Sequence[int] | Tensor, size: int = 32, seed: int = 0) -> dict[str, Batching]:
    return {cut.name: cut for cut in ways(lengths, size, seed)}


@given(some_lengths, st.integers(1, 20), st.integers(0, 5))
def test_every_sequence_is_in_one_batch_and_the_padding_is_torchs(lengths: list[int], size: int, seed: int) -> None:
    cuts = ways(lengths, size, seed)
    assert [cut.name for cut in cuts] == ["random", "sorted", "buckets", "token budget"]
    for cut, again in zip(cuts, ways(torch.tensor(lengths), size, seed), strict=True):
        assert sorted(torch.cat(cut.batches).tolist()) == list(range(len(lengths)))
        grids = [pad_sequence([torch.zeros(lengths[i]) for i in batch], padding_value=1.0) for batch in cut.batches]
        assert cut.cells == tuple(grid.numel() for grid in grids)
        assert cut.share == sum(int(grid.sum()) for grid in grids) / sum(cut.cells)
        assert all(torch.equal(one, other) for one, other in zip(cut.batches, again.batches, strict=True))
        if cut.name != "token budget":
            assert all(1 <= len(batch) <= size for batch in cut.batches)


@given(some_lengths, st.integers(1, 20), st.integers(0, 5))
def test_no_batch_exceeds_the_budget_and_none_could_take_the_next_sequence(
    lengths: list[int], size: int, seed: int
) -> None:
    budget = max(*lengths, round(size * sum(lengths) / len(lengths)), 1)
    cut = ways(lengths, size, seed)[-1]
    assert max(cut.cells) <= budget
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)  # equal ones as they came
    place = {i: k for k, i in enumerate(by_length)}
    for one, other in pairwise(sorted(sorted(map(place.__getitem__, batch.tolist())) for batch in cut.batches)):
        assert one[-1] + 1 == other[0]
        assert (len(one) + 1) * lengths[by_length[other[0]]] > budget


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda each: each.key)
@pytest.mark.parametrize("seed", range(3))
def test_buckets_waste_less_than_random_batches(distribution: Any, seed: int) -> None:
    lengths = distribution.lengths(seed)
    cuts = cut_by_name(lengths, seed=seed)
    share = {name: cut.share for name, cut in cuts.items()}
    if distribution.key in ("same", "outlier"):  # nothing to sort: whoever shares a batch with the outlier is padded
        assert share["sorted"] <= share["buckets"] <= share["random"]
    else:
        assert share["sorted"] < share["buckets"] < 0.8 * share["random"]
    assert share["token budget"] < share["random"] or distribution.key == "same"
    pads, cells = padding_cells(lengths, 32, seed)  # random batches are those of the study of padding
    assert (share["random"], sum(cuts["random"].cells)) == (pads / cells, cells)
