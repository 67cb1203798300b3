"""A rollout of episodes: each way to run it, beside a loop that resets the state."""

import pytest
import torch
from row_cases import random_rows
from seeds import seeds
from torch import nn

import packviz as pv
from packviz.facts.episodes import WAYS, episodes
from packviz.facts.row_leaks import fullest


@pytest.mark.parametrize("seed", seeds(20))
def test_split_at_the_starts_and_packed_is_the_loop_with_resets(seed: int) -> None:
    run = random_rows(seed)
    loop, packed, whole, stale, last = episodes(run)
    assert [way.key for way in (loop, packed, whole, stale, last)] == [*WAYS]
    assert packed.difference <= (2e-6 if run.config.dtype == "float32" else 1e-13)
    assert not packed.wrong
    pieces = run.rows.rows[fullest(run)]
    assert pieces[0][0] not in whole.wrong
    assert {*whole.wrong} <= {b for b, _, _ in pieces}
    assert len(loop.out) == sum(stop - start for _, start, stop in pieces)


def test_the_loop_is_torchs_cell_step_by_step_for_each_sequence_alone() -> None:
    run = pv.trace_rows(pv.Batch.parse("1 2 3\n4\n5 6"), pv.RowConfig(dtype="float64", layer="gru", strategy="wrapped"))
    gru = run.model.layers[0]
    assert isinstance(gru, nn.GRU)
    with torch.no_grad():
        outputs = [gru(run.model.embed(sequence.long()))[0] for sequence in run.batch.sequences]
    torch.testing.assert_close(episodes(run)[0].out, torch.cat(outputs), atol=1e-14, rtol=0)


def test_what_goes_wrong_names_the_episodes_that_it_hits() -> None:
    run = pv.trace_rows(pv.Batch.parse("1 2 3\n4\n5 6 7"), pv.RowConfig(dtype="float64", strategy="wrapped"))
    whole, stale, last = episodes(run)[2:]
    assert whole.wrong == (1, 2)
    assert stale.wrong == (0, 1, 2)
    assert last.wrong == (1,)
    assert not last.out[1].any()
