"""Batches: what is read, what is refused, and the examples."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence

from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.examples import EXAMPLES, Example


@pytest.mark.parametrize(("text", "kind", "dtype", "rows", "texts"), [
    ("to be or\nnot to be", "words", torch.int64, [[1, 2, 3], [4, 1, 2]], (("to", "be", "or"), ("not", "to", "be"))),
    ("1 2.50 -3e1\n+.5", "numbers", torch.float32, [[1.0, 2.5, -30.0], [0.5]], (("1", "2.50", "-3e1"), ("+.5",))),
    ("[[[1, 2], [3, 4]], [[7, 8]]]", "vectors", torch.float32, [[[1, 2], [3, 4]], [[7, 8]]], ((), ())),
])  # fmt: skip
def test_words_become_ids_and_vectors_have_one_row_a_step(
    text: str, kind: str, dtype: Any, rows: Any, texts: Any
) -> None:
    batch = Batch.parse(text)
    assert (batch.kind, [sequence.tolist() for sequence in batch.sequences], batch.texts) == (kind, rows, texts)
    assert {sequence.dtype for sequence in batch.sequences} == {dtype}
    assert batch.vocabulary == (("<pad>", "to", "be", "or", "not") if kind == "words" else ())  # in order of first use


def test_the_summary_counts_sequences_tokens_and_padding() -> None:
    batch = Batch.example("unsorted")
    assert batch.lengths.tolist() == [3, 2, 4]
    assert batch.lengths.dtype == torch.int64
    assert batch.padding_share == 0.25
    assert batch.summary == "3 sequences, 9 tokens, 25% padding"
    assert Batch.parse("1").summary == "1 sequence, 1 token, 0% padding"


def test_a_sequence_of_length_zero_is_refused_in_the_words_of_torch() -> None:
    with pytest.raises(PackvizError) as from_list:
        Batch.parse("[[1, 2], [], [3]]")
    with pytest.raises(PackvizError) as from_tensors:
        Batch.from_tensors([torch.ones(2), torch.ones(0)])
    for caught in (from_list, from_tensors):
        assert "greater than 0" in (caught.value.torch_says or "")
        assert "clamp(min=1)" in caught.value.fix
        assert "mask" in caught.value.fix
    assert "sequence 2" in str(from_list.value)
    assert "tensors[1]" in str(from_tensors.value)


@pytest.mark.parametrize(("got", "kept"), [
    *((dtype, torch.int64) for dtype in (torch.int64, torch.int16, torch.uint8)),
    *((dtype, torch.float32) for dtype in (torch.float16, torch.bfloat16, torch.float32)),
    (torch.float64, torch.float64),
])  # fmt: skip
def test_numbers_as_tensors_keep_their_precision(got: torch.dtype, kept: torch.dtype) -> None:
    batch = Batch.from_tensors([torch.tensor([1, 2, 3]).to(got), torch.tensor([4]).to(got)])
    assert batch.kind == "numbers"
    assert {sequence.dtype for sequence in batch.sequences} == {kept}
    assert batch.texts == (("1", "2", "3"), ("4",))


def test_float64_wins_if_both_precisions_are_given() -> None:
    batch = Batch.from_tensors((torch.ones(2), torch.ones(1, dtype=torch.float64)))
    assert {sequence.dtype for sequence in batch.sequences} == {torch.float64}
    assert Batch.from_tensors([torch.ones(2, 3, dtype=torch.int64)]).sequences[0].dtype == torch.float32


def test_a_batch_is_a_copy_without_gradients() -> None:
    given = torch.ones(2, 3, requires_grad=True)
    batch = Batch.from_tensors([given])
    with torch.no_grad():
        given.zero_()
    assert not batch.sequences[0].requires_grad
    assert bool((batch.sequences[0] == 1).all())


@pytest.mark.parametrize(("tensors", "says"), [
    (torch.ones(2, 3), "a list of tensors, but got a float32 tensor of shape (2, 3)"),
    ("1 2", "a list of tensors, but got '1 2'"),
    (None, "a list of tensors, but got None"),
    ([], "at least one tensor"),
    ([[1, 2]], "a list as tensors[0]"),
    ([torch.tensor(1.0)], "shape (len,) or (len, F)"),
    ([torch.ones(2, 3, 4)], "shape (len,) or (len, F)"),
    ([torch.ones(2, 0)], "at least one feature"),
    ([torch.ones(2, 3), torch.ones(2, 4)], "shape (len, 3) in all"),
    ([torch.ones(2), torch.ones(2, 1)], "shape (len,) in all"),
    ([torch.ones(2), torch.tensor([1])], "only integers, or only floating-point numbers"),
    ([torch.tensor([True])], "torch.bool"),
    ([torch.ones(2, dtype=torch.complex64)], "torch.complex64"),
    ([torch.ones(2).to_sparse()], "sparse"),
    ([torch.ones(2, device="meta")], "meta"),
    ([torch.ones(2), torch.tensor([1.0, math.nan])], "nan at tensors[1][1]"),
    ([torch.tensor([[0.0, -math.inf]])], "-inf at tensors[0][0, 1]"),
])  # fmt: skip
def test_tensors_that_are_no_sequences_are_refused(tensors: Any, says: str) -> None:
    with pytest.raises(PackvizError) as caught:
        Batch.from_tensors(tensors)
    assert says in str(caught.value)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
def test_the_lengths_of_an_example_are_not_its_batch_sizes(example: Example) -> None:
    batch = Batch.example(example.key)
    assert example.title
    assert len(batch.sequences) > 1
    lengths = sorted(batch.lengths.tolist(), reverse=True)
    assert lengths[-1] >= 1
    assert pack_sequence(list(batch.sequences), enforce_sorted=False).batch_sizes.tolist() != lengths
    if example.text is not None:
        assert Batch.parse(example.text, max_sequences=64, max_steps=64).texts == batch.texts


def test_the_vowels_are_nine_recordings_of_twelve_features() -> None:
    batch = Batch.example("vowels")
    assert batch.lengths.tolist() == [26, 12, 7, 24, 14, 19, 21, 16, 9]
    assert {sequence.shape[1:] for sequence in batch.sequences} == {(12,)}
    credit = next(example.credit for example in EXAMPLES if example.key == "vowels")
    assert credit
    assert all(part in credit for part in ("Kudo", "UCI", "CC BY 4.0", "10.24432/C5NS47"))
    assert len(files("packviz.inputs").joinpath("data/japanese_vowels.json").read_bytes()) < 25_000


def test_the_hundred_is_the_same_each_time() -> None:
    state = torch.random.get_rng_state()
    first, second = (list(Batch.example("hundred").sequences) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert torch.equal(torch.random.get_rng_state(), state)
    packed = pack_sequence(first, enforce_sorted=False)
    assert tuple(packed.data.shape) == (818, 200)
    assert packed.batch_sizes.tolist() == [100, 100, 100, 100, 100, 99, 77, 58, 35, 25, 11, 5, 3, 2, 2, 1]
    assert packed.sorted_indices is not None
    assert packed.sorted_indices.tolist() != list(range(100))
