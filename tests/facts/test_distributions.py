"""Ten distributions of lengths, and padding counted by hand."""

import time

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from packviz.errors import PackvizError
from packviz.facts.distributions import DISTRIBUTIONS, Distribution, padding_share, padding_shares

BY_KEY = {distribution.key: distribution for distribution in DISTRIBUTIONS}
each = pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=list(BY_KEY))


@each
def test_each_draws_a_thousand_lengths_from_its_seed_alone(distribution: Distribution) -> None:
    before, lengths = torch.get_rng_state(), distribution.lengths(1)
    assert lengths.shape == (1000,)
    assert lengths.dtype == torch.int64
    assert int(lengths.min()) >= 1
    assert torch.equal(lengths, distribution.lengths(1))
    assert torch.equal(lengths, distribution.lengths(2)) == (distribution.key == "same")
    padding_share(lengths)
    assert torch.equal(torch.get_rng_state(), before)


@each
@pytest.mark.parametrize(("size", "seed"), [(32, 0), (1, 0), (7, 1), (1000, 2), (5000, 3)])
def test_the_share_is_that_of_the_grids_that_torch_pads(distribution: Distribution, size: int, seed: int) -> None:
    lengths = distribution.lengths(seed)
    order = torch.randperm(len(lengths), generator=torch.Generator().manual_seed(seed))
    sequences = [torch.zeros(n) for n in lengths[order].tolist()]
    grids = [pad_sequence(sequences[at : at + size], True, 1.0) for at in range(0, len(sequences), size)]
    mean = sum(float(grid.mean(dtype=torch.float64)) for grid in grids) / len(grids)
    of_all = float(torch.cat([grid.flatten() for grid in grids]).mean(dtype=torch.float64))
    assert padding_share(lengths, size, seed) == pytest.approx((mean, of_all), abs=1e-12)


def test_lengths_may_be_a_list() -> None:
    assert padding_share([1, 2, 3]) == (1 / 3, 1 / 3)  # 3 of 9 cells are padding
    assert padding_share([1, 2, 3], seed=np.int64(0)) == (1 / 3, 1 / 3)  # type: ignore[arg-type]


def test_a_length_beyond_every_tensor_is_refused() -> None:
    with pytest.raises(PackvizError, match="integers of at least 1 and at most 2"):
        padding_share([2**70])


def test_the_shares_of_all_ten_are_those_of_batches_of_32() -> None:
    assert len(BY_KEY) == len({distribution.title for distribution in DISTRIBUTIONS}) == 10
    padding_shares.cache_clear()
    start = time.process_time()
    shares = padding_shares()
    assert time.process_time() - start < 0.5
    assert shares == {each.title: padding_share(each.lengths(0), 32, 0)[0] for each in DISTRIBUTIONS}


@pytest.mark.parametrize("seed", range(5))
def test_the_parameters_are_those_that_are_told(seed: int) -> None:
    drawn = {key: each.lengths(seed).double() for key, each in BY_KEY.items()}
    assert set(drawn["same"].tolist()) == {20.0}
    assert set(drawn["near"].tolist()) == {45.0, 46.0, 47.0, 48.0, 49.0, 50.0}
    assert set(drawn["uniform"].tolist()) <= set(range(1, 101))
    assert float(drawn["uniform"].mean()) == pytest.approx(50.5, abs=4)
    assert float(drawn["sentences"].median()) == pytest.approx(20, abs=2)
    assert float(drawn["sentences"].log().std()) == pytest.approx(0.6, abs=0.06)
    assert float(drawn["chat"].mean()) == pytest.approx(8, abs=1)
    assert float((drawn["bimodal"] < 80).double().mean()) == pytest.approx(0.7, abs=0.06)
    short, long = drawn["bimodal"][drawn["bimodal"] < 80], drawn["bimodal"][drawn["bimodal"] >= 80]
    assert (float(short.mean()), float(long.mean())) == pytest.approx((12, 250), rel=0.05)
    assert float(long.std()) == pytest.approx(40, abs=7)
    assert float(drawn["cut"].max()) == 512
    assert float(drawn["cut"].median()) == pytest.approx(300, abs=45)
    assert sorted(drawn["outlier"].tolist()) == [10.0] * 999 + [1000.0]


def test_the_batch_with_the_outlier_holds_most_of_all_cells() -> None:
    widened, others = 32 * 1000, (1000 - 32) * 10  # cells: a full batch of 32 is padded to the one long sequence
    mean, of_all = padding_share(BY_KEY["outlier"].lengths())
    assert widened / (widened + others) > 0.7
    assert of_all == pytest.approx(31 * 990 / (widened + others))
    assert mean == pytest.approx(31 * 990 / widened / 32)  # one of 32 batches
