"""A run over one of the same rows, with other settings."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from row_cases import LAYERS, random_rows
from seeds import seeds

from packviz import Batch, RowConfig, trace_rows
from packviz.compute.rows import rerun


@pytest.mark.parametrize("seed", seeds(30))
@pytest.mark.parametrize("layer", LAYERS)
def test_a_rerun_has_the_outputs_of_a_run_with_these_settings(seed: int, layer: str) -> None:
    run = random_rows(seed, layer=layer)
    settings = {"isolate": not run.config.isolate, "reset_positions": not run.config.reset_positions}
    theirs = random_rows(seed, layer=layer, **settings)
    for row in range(len(run.rows.rows)):
        ours, at = rerun(run, row, **settings), slice(row, row + 1)
        for name in ("output", "inputs", "position_ids", "document_ids"):
            assert torch.equal(getattr(ours, name), getattr(theirs, name)[at])
        assert ours.rows.rows == theirs.rows.rows[at]
        assert ours.config == theirs.config


@pytest.mark.parametrize("layer", LAYERS)
def test_a_row_is_run_again_with_another_layer_as_in_all_rows(layer: Any) -> None:
    run = trace_rows(Batch.parse("1 2 3 4\n5 6\n7 8 9\n3"), RowConfig(max_length=4))
    whole, one = trace_rows(run.batch, replace(run.config, layer=layer)), rerun(run, 1, layer=layer)
    assert len(run.rows.rows) == 3
    torch.testing.assert_close(one.output, whole.output[1:2])
    torch.testing.assert_close(one.difference[0], whole.difference[1])
    torch.testing.assert_close(one.influence, whole.influence[1:2])


def test_one_row_run_again_says_nothing_about_the_whole_run() -> None:
    run = trace_rows(Batch.parse("1 2 3 4\n5 6\n7 8 9\n3"), RowConfig(max_length=4))
    one = rerun(run, 1, isolate=False)
    assert (len(one.rows.rows), one.rows.dropped, one.config) == (1, (), replace(run.config, isolate=False))
    assert not any(hasattr(one, name) for name in ("batch", "mask", "labels", "logits", "losses", "proof"))
    with pytest.raises(IndexError):
        rerun(run, 3)
