"""Batches of a data set: each sequence once, padding counted by hand, and what sorting saves."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pad_sequence

from packviz.errors import PackvizError
from packviz.facts import DISTRIBUTIONS, padding_cells
from packviz.lab.cost import Batching, batches, default_budget, token_budget, ways

HOWS = ("random", "sorted", "buckets")
lengths_of = st.lists(st.integers(1, 60), min_size=1, max_size=80)


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
    assert default_budget(lengths, 2) == 50
    assert default_budget([10, 20], 8) == 120
    assert max(ways(lengths, 2, budget=60)[-1].cells_of_batches) <= 60


@pytest.mark.parametrize(
    ("call", "of"),
    [
        (lambda: batches([3], 0), "batch_size"),
        (lambda: batches([3], 2, "folded"), "how"),
        (lambda: batches([], 2), "lengths"),
        (lambda: batches([1] * 100_001, 2), "lengths"),
        (lambda: token_budget([3, 9], 8), "budget"),
        (lambda: token_budget([3], "many"), "budget"),
        (lambda: default_budget([3], 0), "batch_size"),
    ],
)
def test_what_makes_no_batches_is_refused(call, of: str) -> None:
    with pytest.raises(PackvizError, match=f"^{of}:"):
        call()
