from __future__ import annotations

from importlib.resources import files

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence

from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.examples import EXAMPLES, Example


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
def test_every_example_is_a_batch_with_a_title(example: Example) -> None:
    batch = Batch.example(example.key)
    assert example.title
    assert len(batch.sequences) > 1
    assert int(batch.lengths.min()) >= 1
    if example.text is not None:
        assert Batch.parse(example.text, max_sequences=64, max_steps=64).texts == batch.texts


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
def test_in_no_example_are_the_lengths_the_batch_sizes(example: Example) -> None:
    packed = pack_sequence(list(Batch.example(example.key).sequences), enforce_sorted=False)
    lengths = sorted(Batch.example(example.key).lengths.tolist(), reverse=True)
    assert packed.batch_sizes.tolist() != lengths


def test_the_vowels_are_nine_recordings_of_twelve_features_with_their_credit() -> None:
    batch = Batch.example("vowels")
    assert [tuple(sequence.shape) for sequence in batch.sequences] == [
        (length, 12) for length in (26, 12, 7, 24, 14, 19, 21, 16, 9)
    ]
    credit = next(example.credit for example in EXAMPLES if example.key == "vowels")
    assert credit
    assert all(part in credit for part in ("Kudo", "UCI", "CC BY 4.0", "10.24432/C5NS47"))
    assert len(files("packviz.inputs").joinpath("data/japanese_vowels.json").read_bytes()) < 25_000


def test_the_hundred_has_818_tokens_and_the_batch_sizes_it_is_known_by() -> None:
    batch = Batch.example("hundred")
    packed = pack_sequence(list(batch.sequences), enforce_sorted=False)
    assert tuple(packed.data.shape) == (818, 200)
    assert packed.batch_sizes.tolist() == [100, 100, 100, 100, 100, 99, 77, 58, 35, 25, 11, 5, 3, 2, 2, 1]
    assert packed.sorted_indices is not None
    assert packed.sorted_indices.tolist() != list(range(100))


def test_the_hundred_is_the_same_each_time_and_leaves_the_global_seed_alone() -> None:
    state = torch.random.get_rng_state()
    first, second = Batch.example("hundred").sequences, Batch.example("hundred").sequences
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert torch.equal(torch.random.get_rng_state(), state)


def test_an_unknown_example_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        PackvizError, match="one of sentences, unsorted, forum, words, zen, vowels, hundred, but got 'none'"
    ):
        Batch.example("none")
