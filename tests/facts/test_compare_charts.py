"""The charts of the comparison, by value."""

import pytest
import torch
from facts_cases import made, packed_run, padded_run, studied

import packviz as pv
from packviz import Batch
from packviz.facts import compare, drift, losses
from packviz.show.charts.differences import difference, drifts, gradients

SEEDS = [0, 1, 2, 3, 4, 9]


@pytest.mark.parametrize("seed", SEEDS)
def test_difference_shows_how_far_torchs_two_runs_are_apart(seed: int) -> None:
    trace = studied(seed)
    heat, crosses = difference(compare(trace)).data
    apart = (padded_run(trace)[0].double() - packed_run(trace)[0].double()).abs().amax(2)
    torch.testing.assert_close(torch.tensor(heat.z, dtype=torch.float64), apart, atol=1e-4, rtol=1e-4)
    pads = (~trace.padded.mask).nonzero().tolist()
    assert list(zip(crosses.y, crosses.x, strict=True)) == [(b, t) for b, t in pads]


def test_a_large_batch_is_shown_in_part_and_says_so() -> None:
    trace = pv.trace(Batch.from_tensors([torch.ones(1 + b % 3) for b in range(70)]))
    figure = difference(compare(trace))
    assert len(figure.data[0].z) == 60
    assert figure.layout.title.subtitle.text == "showing 60 of 70 sequences"
    assert drifts(drift(trace, 2)).layout.title.subtitle.text == "showing 40 of 70 sequences"


def test_drifts_puts_every_distance_over_its_own_number_of_pads() -> None:
    done = drift(made("1 2 3\n4", bidirectional=True, num_layers=2), 50)
    figure = drifts(done)
    assert list(figure.data[0].x) == list(done.pads) == [*range(11), 15, 20, 30, 40, 49, 50]
    assert list(figure.data[0].y) == done.distances[0].tolist()
    assert "over 0 to 50 pads; after one pad and after 50: A " in figure.layout.meta["alt"]


def test_gradients_has_two_bars_for_each_parameter() -> None:
    done = losses(made("on your mark\ngo", bidirectional=True))
    unmasked, masked = gradients(done).data
    assert list(unmasked.y) == list(masked.y) == [row.name for row in done.gradients]
    assert list(unmasked.x) == [row.unmasked for row in done.gradients]
    assert list(masked.x) == [row.masked for row in done.gradients]
