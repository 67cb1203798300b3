"""A run over the same rows with other settings."""

import pytest
import torch
from row_cases import LAYERS, random_rows
from seeds import seeds

from packviz.compute.rows import rerun


@pytest.mark.parametrize("seed", seeds(30))
@pytest.mark.parametrize("layer", LAYERS)
def test_a_rerun_has_the_outputs_of_a_run_with_these_settings(seed: int, layer: str) -> None:
    run = random_rows(seed, layer=layer)
    settings = {"isolate": not run.config.isolate, "reset_positions": not run.config.reset_positions}
    theirs = random_rows(seed, layer=layer, **settings)
    ours = rerun(run, **settings)
    assert torch.equal(ours.output, theirs.output)
    assert torch.equal(ours.position_ids, theirs.position_ids)
    assert ours.config == theirs.config
    assert ours.loss == pytest.approx(theirs.loss, nan_ok=True)
