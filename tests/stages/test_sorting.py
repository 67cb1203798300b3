import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.sorting import Sorted, read_order


def order_of(lengths: list[int], *, enforce_sorted: bool = False) -> Sorted:
    packed = pack_padded_sequence(torch.zeros(len(lengths), max(lengths)), lengths, True, enforce_sorted)
    return read_order(packed, torch.tensor(lengths))


def test_the_longest_sequence_stands_first() -> None:
    order = order_of([3, 2, 4])
    assert order.lengths.tolist() == [4, 3, 2]
    assert order.sorted_indices.tolist() == order.order.tolist() == [2, 0, 1]
    assert order.unsorted_indices.tolist() == order.rank.tolist() == [1, 2, 0]


def test_nothing_is_moved_when_sorted_lengths_are_enforced() -> None:
    order = order_of([4, 3, 3], enforce_sorted=True)
    assert order.sorted_indices is None
    assert order.unsorted_indices is None
    assert order.order.tolist() == order.rank.tolist() == [0, 1, 2]
    assert order.lengths.tolist() == [4, 3, 3]


@pytest.mark.parametrize("B", [1, 16, 17, 18, 40, 100])
def test_equal_lengths_stand_where_torch_put_them(B: int) -> None:
    packed = pack_padded_sequence(torch.zeros(B, 2), [2] * B, True, enforce_sorted=False)
    order = order_of([2] * B)
    assert torch.equal(order.order, packed.sorted_indices)
    assert torch.equal(order.rank, packed.unsorted_indices)


def test_rank_undoes_order() -> None:
    order = order_of([2, 5, 5, 1, 3, 2] * 5)
    assert order.order[order.rank].tolist() == list(range(30))


def test_states_are_sorted_along_the_sequences() -> None:
    state = torch.arange(6.0).view(2, 3, 1)  # (L*D, B, H)
    assert order_of([3, 2, 4]).apply(state).flatten().tolist() == [2, 0, 1, 5, 3, 4]
    assert order_of([4, 3, 2], enforce_sorted=True).apply(state) is state
