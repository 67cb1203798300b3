import random

import pytest
import torch
from seeds import seeds
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.compute.packing import Packed, ask_torch, locate

GRID = torch.tensor([[1.0, 2.0, 3.0, 0.0], [4.0, 5.0, 0.0, 0.0], [6.0, 7.0, 8.0, 9.0]])
LENGTHS = torch.tensor([3, 2, 4])


def packed_with_rank(grid: Tensor, lengths: Tensor, *, enforce_sorted: bool = False) -> tuple[Packed, Tensor]:
    packed = ask_torch(grid, lengths, batch_first=True, enforce_sorted=enforce_sorted)
    order = torch.arange(len(lengths)) if packed.sorted_indices is None else packed.sorted_indices
    return locate(packed), order.argsort()


def test_rows_stand_time_step_after_time_step_without_a_pad() -> None:
    packed, _ = packed_with_rank(GRID, LENGTHS)
    assert packed.data.tolist() == [6, 1, 4, 7, 2, 5, 8, 3, 9]
    assert packed.batch_sizes.tolist() == [3, 3, 2, 1]
    assert packed.sequence.tolist() == [2, 0, 1, 2, 0, 1, 2, 0, 2]
    assert packed.timestep.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3]
    assert packed.offsets.tolist() == [0, 3, 6, 8]


def test_left_padding_packs_the_pads_and_drops_tokens() -> None:
    packed, _ = packed_with_rank(torch.tensor([[4.0, 5, 6], [0, 2, 3], [0, 0, 1]]), torch.tensor([3, 2, 1]))
    assert packed.data.tolist() == [4, 0, 0, 5, 2, 6]


@pytest.mark.parametrize("seed", seeds(20))
@pytest.mark.parametrize("enforce_sorted", [False, True])
def test_every_row_is_the_cell_that_it_claims_to_be(seed: int, enforce_sorted: bool) -> None:
    draw = random.Random(seed)
    B, T = draw.choice((1, 3, 17, 40)), draw.randint(1, 9)
    lengths = sorted((draw.choice((1, T, draw.randint(1, T))) for _ in range(B)), reverse=True)
    if not enforce_sorted:
        draw.shuffle(lengths)
    grid = torch.randn(B, T, 2)
    packed, rank = packed_with_rank(grid, torch.tensor(lengths), enforce_sorted=enforce_sorted)
    assert torch.equal(packed.data, grid[packed.sequence, packed.timestep])
    assert torch.equal(packed.offsets[packed.timestep] + rank[packed.sequence], torch.arange(sum(lengths)))


@pytest.mark.parametrize("seed", seeds(10))
def test_batch_sizes_count_the_longer_lengths_and_never_increase(seed: int) -> None:
    lengths = torch.randint(1, 9, (12,), generator=torch.Generator().manual_seed(seed))
    packed, _ = packed_with_rank(torch.zeros(12, 8), lengths)
    sizes = packed.batch_sizes.tolist()
    assert sizes == [int((lengths > t).sum()) for t in range(len(sizes))] == sorted(sizes, reverse=True)
    assert sum(sizes) == len(packed.data) == lengths.sum()


def test_columns_that_no_length_reaches_are_not_packed() -> None:
    packed, _ = packed_with_rank(GRID, torch.tensor([1, 1, 2]))
    assert packed.data.tolist() == [6, 1, 4, 7]
    assert len(packed.batch_sizes) == 2


def test_a_foreign_order_of_equal_lengths_is_taken_as_it_is() -> None:
    order = torch.tensor([1, 2, 0])
    given = PackedSequence(torch.tensor([10.0, 20, 0, 11, 21, 1]), torch.tensor([3, 3]), order, order.argsort())
    packed = locate(given)
    assert packed.sequence.tolist() == [1, 2, 0, 1, 2, 0]
    assert packed.timestep.tolist() == [0, 0, 0, 1, 1, 1]


def test_time_first_values_are_packed_to_the_same_rows() -> None:
    by_time = ask_torch(GRID.t(), LENGTHS, batch_first=False, enforce_sorted=False)
    assert by_time.data.tolist() == packed_with_rank(GRID, LENGTHS)[0].data.tolist()


def test_torch_refuses_unsorted_lengths_where_they_must_be_sorted() -> None:
    with pytest.raises(RuntimeError, match="must be sorted in decreasing order"):
        ask_torch(GRID, LENGTHS, batch_first=True, enforce_sorted=True)
