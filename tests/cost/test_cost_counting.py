"""Lengths as people type and upload them; counts and batches: torch's own tensors, and what sorting saves."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeds import seeds
from torch.nn.utils.rnn import pad_sequence
from trace_cases import random_case

from packviz.compute.record import Refusal
from packviz.compute.trace import trace, trace_module
from packviz.errors import PackvizError
from packviz.facts import DISTRIBUTIONS, padding_share
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.lab.cost import Amount, counts_of, draw_lengths, read_lengths, ways
from packviz.lab.cost.counting import reachable

some_lengths = st.lists(st.integers(1, 60), min_size=1, max_size=80)


@pytest.mark.parametrize("seed", seeds(20))
def test_the_counts_are_those_of_torchs_own_tensors(seed: int) -> None:
    case = random_case(seed)
    x, packed, module = case.x, case.packed, case.module
    found = counts_of(trace_module(module, x, case.lengths, enforce_sorted=case.enforce_sorted, hx=case.hx))
    assert found.inputs == Amount(x.nbytes, packed.data.nbytes)
    beside = torch.tensor(case.lengths).nbytes, sum(part.nbytes for part in packed[1:] if part is not None)
    assert found.indices == Amount(*beside)
    assert found.both_inputs == x.nbytes + packed.data.nbytes + sum(beside)
    assert found.steps == Amount(x.size(1 if module.batch_first else 0), len(packed.batch_sizes))
    passes = module.num_layers * (2 if module.bidirectional else 1)
    assert found.updates == Amount(x[..., 0].numel() * passes, len(packed.data) * passes)
    assert found.spared == (x[..., 0].numel() - len(packed.data)) * passes


def test_a_trace_that_torch_refuses_is_counted_all_the_same() -> None:
    refused = trace(Batch.parse("1\n2 3"), Config(enforce_sorted=True))
    assert isinstance(refused, Refusal)
    assert counts_of(refused).updates == Amount(4, 3)


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
    cuts = {cut.name: cut for cut in ways(lengths, 32, seed)}
    share = {name: cut.share for name, cut in cuts.items()}
    if distribution.key in ("same", "outlier"):  # nothing to sort: whoever shares a batch with the outlier is padded
        assert share["sorted"] <= share["buckets"] <= share["random"]
    else:
        assert share["sorted"] < share["buckets"] < 0.8 * share["random"]
    assert share["token budget"] < share["random"] or distribution.key == "same"
    assert share["random"] == padding_share(lengths, 32, seed)[1]


SEPARATORS = (" ", ", ", ",", ";", "\n", "\r\n", "\t", " | ", "\n\n", ";\n", "] [")


@given(
    st.lists(st.tuples(st.integers(1, 1_000_000), st.sampled_from(SEPARATORS)), min_size=1, max_size=50),
    st.sampled_from(("", "[", "(", "\ufeff", "  ", "length\n", "Number of tokens\n", '"len"\n')),
    st.sampled_from(("", "\n", ",", "]", "\r\n\r\n")),
    st.booleans(),
)
def test_numbers_between_anything_sensible_are_read(
    parts: list[tuple[int, str]], before: str, after: str, uploaded: bool
) -> None:
    text = before + "".join(f"{number}{separator}" for number, separator in parts) + after
    lengths = read_lengths(text.encode() if uploaded else text)
    assert lengths.dtype == torch.int64
    assert lengths.tolist() == [number for number, _ in parts]


WRITTEN = [("12", [12]), ("007 +3 4.0 5.", [7, 3, 4, 5]), ('"3"\n"4"\n', [3, 4]), ("[3, 4]", [3, 4])]
WRITTEN.append(("7\n" * 100_000, [7] * 100_000))


@pytest.mark.parametrize(("text", "lengths"), [*WRITTEN, ("n_tokens,\n9,\n8", [9, 8])], ids=range(6))
def test_lengths_may_be_written_as_files_write_them(text: str, lengths: list[int]) -> None:
    assert read_lengths(text).tolist() == lengths


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("", "none"),
        (" \n,;\n", "none"),
        ("length\n", "none"),
        ("3 4\n5 0", "'0' in line 2"),
        ("3\n-4", "'-4' in line 2"),
        ("3 2.5", "'2.5' in line 1"),
        ("nan\n3", "'nan' in line 1"),
        ("a, b\n3 4", "'a' in line 1"),
        ("3\nnan", "'nan' in line 2"),
        ("3\nlength\n4", "'length' in line 2"),
        ("three", "'three' in line 1"),
        ("1e3", "'1e3' in line 1"),
        ("5-7", "'5-7' in line 1"),
        ("1000001", "'1000001' in line 1"),
        ("9" * 5000, "in line 1"),
        ("7 " * 100_001, "100,001"),
        ("٣", "'٣' in line 1"),
        ("3\x004", "'3␀4' in line 1"),
        (b"\xff\xfe3\x00", "an invalid byte at position 1"),
    ],
    ids=range(19),
)
def test_what_is_no_length_is_refused_with_its_place(text: str | bytes, got: str) -> None:
    with pytest.raises(PackvizError) as caught:
        read_lengths(text)
    assert caught.value.parameter == "lengths"
    assert got in caught.value.got
    assert len(str(caught.value)) < 300
    assert caught.value.fix


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        lengths = read_lengths(text)
    except PackvizError:
        return
    assert int(lengths.min()) >= 1


@given(st.integers(1, 40), st.integers(1, 60), st.floats(0.01, 1.0), st.integers(0, 9))
def test_the_longest_is_t_and_the_sum_is_the_share_to_the_nearest_cell(B: int, T: int, fill: float, seed: int) -> None:
    lengths = draw_lengths(B, T, fill, seed)
    assert lengths.dtype == torch.int64
    assert lengths.shape == (B,)
    assert (int(lengths.max()), int(lengths.min()) >= 1) == (T, True)
    least = T + B - 1  # one of T, all others 1
    assert int(lengths.sum()) == max(least, round(fill * B * T))
    assert reachable(B, T, fill) == (round(fill * B * T) >= least)
    assert torch.equal(lengths, draw_lengths(B, T, fill, seed))
