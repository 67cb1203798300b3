"""A sweep: its lengths, its plan, and that it comes point by point."""

from itertools import product
from math import ceil
from statistics import median

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from packviz.errors import PackvizError
from packviz.lab.cost import draw_lengths, plan_sweep, reachable, sweep
from packviz.lab.cost.timing import Stopwatch


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


def test_another_seed_gives_other_lengths_and_torchs_own_state_stays() -> None:
    before = torch.get_rng_state()
    assert not torch.equal(draw_lengths(20, 50, 0.5, 0), draw_lengths(20, 50, 0.5, 1))
    assert torch.equal(torch.get_rng_state(), before)


def test_lengths_are_spread_and_not_all_of_two_kinds() -> None:
    for fill in (0.25, 0.5, 0.75):
        assert len(set(draw_lengths(64, 50, fill).tolist())) > 15


def test_the_plan_is_every_combination_that_can_be() -> None:
    cells, fills, sizes, steps, hidden = ("rnn", "lstm"), (0.05, 0.5, 1.0), (1, 4, 64), (5, 40), (2, 8)
    planned = plan_sweep(cells, fills, sizes, steps, hidden, backward=True, onednn=False, threads=1, seed=3)
    found = {(s.setup.cell, s.fill, s.batch_size, s.steps, s.hidden_size) for s in planned}
    possible = {
        place
        for place in product(cells, fills, sizes, steps, hidden)
        if round(place[1] * place[2] * place[3]) >= place[3] + place[2] - 1
    }
    assert found == possible
    assert len(planned) == len(found) < 2 * 3 * 3 * 2 * 2
    assert {(s.setup.backward, s.setup.onednn, s.setup.threads, s.setup.seed) for s in planned} == {(True, False, 1, 3)}


@pytest.mark.parametrize(
    ("wrong", "of"),
    [
        ({"fills": (0.0,)}, "fill"),
        ({"fills": (1.2,)}, "fill"),
        ({"fills": (float("nan"),)}, "fill"),
        ({"batch_sizes": (0,)}, "batch_size"),
        ({"steps": (2.5,)}, "steps"),
        ({"cells": ("cnn",)}, "cell"),
        ({"hidden_sizes": (5000,), "fills": (1.0,)}, "sweep"),
        ({"batch_sizes": tuple(range(1, 300))}, "sweep"),
    ],
)
def test_a_sweep_that_cannot_be_or_would_not_be_quick_is_refused(wrong: dict, of: str) -> None:
    with pytest.raises(PackvizError, match=of):
        plan_sweep(**wrong)


def test_points_come_one_by_one_in_the_order_of_the_plan() -> None:
    planned = plan_sweep(("rnn", "gru", "lstm"), (0.5, 1.0), (4,), (6,), (3,), features=2)
    points = list(sweep(planned, repeats=2))
    assert [point.setting for point in points] == planned
    assert [point.number for point in points] == list(range(1, len(planned) + 1))
    assert {point.total for point in points} == {len(planned)}
    for point in points:
        assert point.measurement.lengths == tuple(point.setting.lengths.tolist())
        assert sum(point.measurement.lengths) == ceil(point.setting.fill * 24)
        assert point.measurement.finished
        assert (point.padded_ms, point.packed_ms) == tuple(
            median(side.times) for side in (point.measurement.padded, point.measurement.packed)
        )
        assert point.ratio == point.packed_ms / point.padded_ms
        assert point.measurement.alone is None


def test_a_sweep_that_is_closed_measures_no_more() -> None:
    asked: list[float] = []

    def clock() -> float:
        asked.append(0.0)
        return float(len(asked))

    points = sweep(plan_sweep(features=2, hidden_sizes=(2,)), repeats=1, watch=Stopwatch(clock))
    next(points)
    before = len(asked)
    points.close()
    assert list(points) == []
    assert len(asked) == before > 0
