"""The address of every token, both ways, and what is out of range."""

from typing import Any

import pytest
import torch
from study_cases import SEEDS, made, refused, studied

from packviz.compute.trace import trace
from packviz.errors import PackvizError
from packviz.facts.address import row_of, token_of
from packviz.inputs.batch import Batch


@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_is_found_from_its_token_and_back(seed: int) -> None:
    seen = studied(seed)
    for b, length in enumerate(seen.padded.lengths.tolist()):
        for t in range(length):
            address = row_of(seen, b, t)
            assert (address.b, address.t) == (b, t)
            assert torch.equal(seen.packed_sequence.data[address.n], seen.padded.grid[b, t])
            assert address == token_of(seen, address.n)
    assert len({row_of(seen, token_of(seen, n).b, token_of(seen, n).t).n for n in range(len(seen.output))}) == len(
        seen.output
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_arithmetic_is_that_of_batch_sizes_and_unsorted_indices(seed: int) -> None:
    seen = studied(seed)
    packed = seen.packed_sequence
    for n in range(len(packed.data)):
        address = token_of(seen, n)
        rank = address.b if packed.unsorted_indices is None else int(packed.unsorted_indices[address.b])
        assert address.offset == int(packed.batch_sizes[: address.t].sum())
        assert address.position == rank
        assert address.n == address.offset + address.position == n


def test_the_sentence_is_the_arithmetic() -> None:
    address = row_of(made(), 0, 2)
    assert address.told == "data[offset[2] + 1] = data[6 + 1] = data[7]"


def test_a_hundred_sequences_are_found_too() -> None:
    seen = trace(Batch.example("hundred"))
    for n in range(0, 818, 31):
        address = token_of(seen, n)
        assert row_of(seen, address.b, address.t).n == n
    assert token_of(seen, 817).n == 817


@pytest.mark.parametrize("b", [-1, 3, 100, True, 1.0, "A", None])
def test_a_sequence_that_is_not_there_is_refused(b: Any) -> None:
    with pytest.raises(PackvizError, match="a sequence from 0 to 2") as raised:
        row_of(made(), b, 0)
    assert raised.value.parameter == "b"


@pytest.mark.parametrize("t", [-1, 2, 3, 100, False, 0.5, None])
def test_a_step_beyond_the_length_is_refused_with_the_length(t: Any) -> None:
    with pytest.raises(PackvizError, match="B has length 2") as raised:
        row_of(made(), 1, t)
    assert raised.value.parameter == "t"


@pytest.mark.parametrize("n", [-1, 9, 1000, True, 2.0, None])
def test_a_row_that_is_not_there_is_refused(n: Any) -> None:
    with pytest.raises(PackvizError, match="a packed row from 0 to 8") as raised:
        token_of(made(), n)
    assert raised.value.parameter == "n"


def test_a_batch_that_torch_did_not_pack_has_no_addresses() -> None:
    for ask in (lambda: row_of(refused(), 0, 0), lambda: token_of(refused(), 0)):
        with pytest.raises(PackvizError) as raised:
            ask()
        assert raised.value.torch_says
