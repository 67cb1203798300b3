"""The address of every token, both ways, and the order in which torch puts equal lengths."""

import pytest
import torch
from facts_cases import each_seed, made, studied
from torch.nn.utils.rnn import pack_sequence

from packviz.facts import row_of, token_of
from packviz.facts.torch_says import order_of_equals, ties


@each_seed
def test_every_row_is_found_from_its_token_and_back(seed: int) -> None:
    seen = studied(seed)
    packed, found = seen.packed_sequence, set()
    for b, length in enumerate(seen.padded.lengths.tolist()):
        rank = b if packed.unsorted_indices is None else int(packed.unsorted_indices[b])
        for t in range(length):
            address = row_of(seen, b, t)
            assert (address.b, address.t) == (b, t)
            assert torch.equal(packed.data[address.n], seen.padded.grid[b, t])
            assert address == token_of(seen, address.n)
            assert address.n == address.offset + address.position
            assert (address.offset, address.position) == (int(packed.batch_sizes[:t].sum()), rank)
            found.add(address.n)
    assert found == set(range(len(packed.data)))


@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 18, 20, 64, 100, 300])
def test_the_order_of_equals_is_torchs(n: int) -> None:
    packed = pack_sequence([torch.zeros(3, 2)] * n, enforce_sorted=False)
    assert packed.sorted_indices is not None
    assert list(order_of_equals(n)) == packed.sorted_indices.tolist()


@each_seed
def test_ties_are_the_runs_of_equal_lengths_in_torchs_order(seed: int) -> None:
    seen = studied(seed)
    order, lengths = seen.sorted.order.tolist(), seen.padded.lengths.tolist()
    found = ties(seen)
    assert [tie.length for tie in found] == sorted({n for n in lengths if lengths.count(n) > 1}, reverse=True)
    for tie in found:
        assert list(tie.sequences) == [b for b in order if lengths[b] == tie.length]
        assert tie.as_they_came == all(a < b for a, b in zip(tie.sequences, tie.sequences[1:], strict=False))


def test_different_lengths_have_no_ties_and_with_enforce_sorted_equals_stay_as_they_came() -> None:
    assert ties(made()) == ()
    (tie,) = ties(made("\n".join(["1 2"] * 20), enforce_sorted=True))
    assert tie.sequences == tuple(range(20))
    assert tie.as_they_came
