"""Attention's pairs are counted as torch's own masks have them."""

from itertools import accumulate

import pytest
import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask

from packviz import charts
from packviz.errors import PackvizError
from packviz.inputs.documents import seq_idx_of
from packviz.lab.cost import BLOCK, pairs_of, pairs_verdict
from packviz.lab.cost.pairs import blocks
from packviz.lab.training.experiment import vowels


def _mask(lengths: list[int], causal: bool) -> Tensor:
    """Return the (C, C) mask of a row without pads."""
    documents = seq_idx_of(lengths)
    mask = documents.unsqueeze(0) == documents.unsqueeze(1)
    return mask.tril() if causal else mask


def _flex_blocks(lengths: list[int], causal: bool) -> int:
    mask = _mask(lengths, causal)
    made = create_block_mask(lambda _b, _h, q, k: mask[q, k], None, None, len(mask), len(mask), device="cpu")
    assert made.BLOCK_SIZE == (BLOCK, BLOCK)
    full = 0 if made.full_kv_num_blocks is None else int(made.full_kv_num_blocks.sum())
    return int(made.kv_num_blocks.sum()) + full


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("lengths", [[5], [128], [129], [100, 28, 128], [300, 7, 7, 200], [1] * 130, [127, 2, 400, 1]])
def test_blocks_are_those_of_flex_attention(lengths: list[int], causal: bool) -> None:
    assert blocks(lengths, causal) == _flex_blocks(lengths, causal)


def test_blocks_of_random_rows_are_those_of_flex_attention() -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(10):
        lengths = torch.randint(1, 300, (6,), generator=generator).tolist()
        assert blocks(lengths, True) == _flex_blocks(lengths, True)


@pytest.mark.parametrize("causal", [True, False])
def test_pairs_of_a_small_batch_as_masks_count_them(causal: bool) -> None:
    padded, concatenated, dense, by_blocks = pairs_of([3, 2, 1], 6, causal=causal)
    needed = int(_mask([3, 2, 1], causal).sum())
    assert {each.needed for each in (padded, concatenated, dense, by_blocks)} == {needed}
    grid = torch.ones(3, 3, 3)
    assert (padded.cells, padded.computed) == (grid[0].numel(), grid.numel())
    assert (dense.cells, dense.computed) == (6, _mask([3, 2, 1], causal).numel())
    assert (concatenated.cells, concatenated.computed) == (dense.cells, dense.computed)  # a dense mask saves nothing
    assert by_blocks.computed == BLOCK**2  # one block, although the row has 36 pairs


def test_a_sequence_longer_than_a_row_is_cut_in_all_ways() -> None:
    found = pairs_of([5, 2, 3, 1], 4)
    assert [each.cells for each in found] == [4 * 5, 12, 12, 12]
    pieces = [4, 1, 2, 3, 1]
    assert found[0].needed == sum(int(_mask([length], True).sum()) for length in pieces)


def test_blocks_save_pairs_in_long_rows_of_recordings() -> None:
    data = vowels()
    lengths = [len(x) for x in (*data.train_x, *data.test_x)]
    _, _, dense, by_blocks = pairs_of(lengths, 1024)
    ends = list(accumulate(lengths))
    assert dense.computed == -(-ends[-1] // 1024) * 1024**2
    assert by_blocks.needed < by_blocks.computed < dense.computed / 4


def test_the_verdict_says_that_a_dense_mask_saves_nothing() -> None:
    short, long = pairs_of([3, 2, 1], 6), pairs_of([200] * 20, 1024)
    for found in (short, long):
        assert f"A dense mask saves nothing:** each of the {found[2].computed:,} pairs" in pairs_verdict(found)
    assert "saves nothing either" in pairs_verdict(short)
    assert f"and computes {long[3].computed:,}." in pairs_verdict(long)
    assert long[3].computed < long[2].computed


def test_the_chart_shows_all_counts_and_the_pairs_needed() -> None:
    found = pairs_of([3, 2, 1], 6)
    cells, pairs = charts.pairs_bars(found).data
    assert list(cells.x) == [each.cells for each in found]
    assert list(pairs.x) == [*(each.computed for each in found), found[0].needed]


@pytest.mark.parametrize(
    ("lengths", "max_length", "name"),
    [([], 4, "lengths"), ([3], 0, "max_length"), ([1_000_000, 1], 128, "lengths"), ([1] * 10_001, 128, "lengths"),
     ([900_000], 4, "max_length")],
)  # fmt: skip
def test_sizes_beyond_the_limits_are_refused(lengths: list[int], max_length: int, name: str) -> None:
    with pytest.raises(PackvizError) as refused:
        pairs_of(lengths, max_length)
    assert refused.value.parameter == name
