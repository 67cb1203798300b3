"""Counts and batches: a grid counted cell by cell, torch's own tensors, each sequence once, what sorting saves."""

import random
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeds import seeds
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from trace_cases import random_case, random_lengths

from packviz.compute.trace import trace, trace_module
from packviz.errors import PackvizError
from packviz.facts import DISTRIBUTIONS, padding_cells
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.lab.cost import Amount, Batching, batches, counts, counts_of, token_budget, ways

HOWS = ("random", "sorted", "buckets")
lengths_of = st.lists(st.integers(1, 60), min_size=1, max_size=80)


@pytest.mark.parametrize("seed", seeds(60))
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


@pytest.mark.parametrize("seed", seeds(60))
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


@pytest.mark.parametrize("wrong", [{"features": 0}, {"hidden_size": 1.5}, {"num_layers": -1}, {"width": 2}])
def test_what_is_no_size_is_refused(wrong: dict) -> None:
    with pytest.raises(PackvizError, match=next(iter(wrong))):
        counts([3, 1], **wrong)


def padded_by_torch(cut: Batching) -> tuple[int, int]:
    """Return pads and cells of the grids that torch pads the batches to."""
    pads = cells = 0
    for batch in cut.batches:
        grid = pad_sequence([torch.zeros(int(cut.lengths[i])) for i in batch], padding_value=1.0)
        pads, cells = pads + int(grid.sum()), cells + grid.numel()
    return pads, cells


@given(lengths_of, st.integers(1, 20), st.sampled_from(HOWS), st.integers(0, 5))
def test_every_sequence_is_in_one_batch_and_the_padding_is_torchs(
    lengths: list[int], size: int, how: str, seed: int
) -> None:
    cut = batches(lengths, size, how, seed)
    assert sorted(torch.cat(cut.batches).tolist()) == list(range(len(lengths)))
    assert all(1 <= len(batch) <= size for batch in cut.batches)
    pads, cells = padded_by_torch(cut)
    assert (cut.pads, cut.cells) == (pads, cells)
    assert cut.share == pads / cells
    again = batches(torch.tensor(lengths), size, how, seed)
    assert all(torch.equal(one, other) for one, other in zip(cut.batches, again.batches, strict=True))


@given(lengths_of, st.integers(0, 200), st.integers(0, 5))
def test_no_batch_exceeds_the_budget_and_none_could_take_the_next_sequence(
    lengths: list[int], more: int, seed: int
) -> None:
    budget = max(lengths) + more
    cut = token_budget(lengths, budget, seed)
    assert sorted(torch.cat(cut.batches).tolist()) == list(range(len(lengths)))
    assert max(cut.cells_of_batches) <= budget
    assert (cut.pads, cut.cells) == padded_by_torch(cut)
    place = {
        i: k for k, i in enumerate(sorted(range(len(lengths)), key=lengths.__getitem__))
    }  # equal ones as they came
    for one, other in pairwise(sorted(sorted(map(place.__getitem__, batch.tolist())) for batch in cut.batches)):
        assert one[-1] + 1 == other[0]
        following = next(lengths[i] for i, k in place.items() if k == other[0])
        assert (len(one) + 1) * following > budget


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda each: each.key)
@pytest.mark.parametrize("seed", range(3))
def test_buckets_waste_less_than_random_batches(distribution, seed: int) -> None:
    lengths = distribution.lengths(seed)
    share = {cut.name: cut.share for cut in ways(lengths, 32, seed=seed)}
    if distribution.key in ("same", "outlier"):  # nothing to sort: whoever shares a batch with the outlier is padded
        assert share["sorted"] <= share["buckets"] <= share["random"]
    else:
        assert share["sorted"] < share["buckets"] < 0.8 * share["random"]
    assert share["token budget"] < share["random"] or distribution.key == "same"


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda each: each.key)
def test_random_batches_are_those_of_the_study_of_padding(distribution) -> None:
    lengths = distribution.lengths()
    cut = batches(lengths, 32, "random", 4)
    assert (cut.pads, cut.cells) == padding_cells(lengths, 32, 4)


@pytest.mark.parametrize("how", ["random", "buckets"])
def test_the_seed_decides_and_torchs_own_state_stays(how: str) -> None:
    before = torch.get_rng_state()
    cut = [torch.cat(batches(range(1, 200), 8, how, seed).batches).tolist() for seed in (0, 1)]
    assert cut[0] != cut[1]
    assert torch.equal(torch.get_rng_state(), before)


def test_buckets_keep_most_of_the_randomness() -> None:
    """In sorted batches a sequence always meets those of its own length; in buckets it meets others next time."""
    lengths = torch.randint(1, 100, (2000,), generator=torch.Generator().manual_seed(0))

    def company(how: str, seed: int) -> set[int]:
        return next(set(batch.tolist()) for batch in batches(lengths, 32, how, seed).batches if 7 in batch)

    assert company("sorted", 0) == company("sorted", 1)
    assert len(company("buckets", 0) & company("buckets", 1)) < 16


def test_sorted_batches_come_in_random_order() -> None:
    longest = [int(max(batch)) for batch in batches(range(1, 200), 8, "sorted").batches]
    assert longest != sorted(longest)


def test_all_four_ways_come_by_name() -> None:
    lengths = [3, 50, 7, 9]
    assert [cut.name for cut in ways(lengths, 2)] == ["random", "sorted", "buckets", "token budget"]
    assert max(ways(lengths, 2)[-1].cells_of_batches) == 50  # no budget is below the longest length
    assert sorted(ways([10, 20] * 6, 8)[-1].cells_of_batches) == [60, 120]  # 8 sequences of mean length: 120 cells
    assert max(ways(lengths, 2, budget=60)[-1].cells_of_batches) <= 60


@pytest.mark.parametrize(
    ("call", "of"),
    [
        (lambda: batches([3], 0), "batch_size"),
        (lambda: batches([3], 2, "folded"), "how"),
        (lambda: batches([], 2), "lengths"),
        (lambda: token_budget([3, 9], 8), "budget"),
        (lambda: token_budget([3], "many"), "budget"),
        (lambda: ways([3], 0), "batch_size"),
    ],
)
def test_what_makes_no_batches_is_refused(call, of: str) -> None:
    with pytest.raises(PackvizError, match=f"^{of}:"):
        call()
