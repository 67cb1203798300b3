"""A run over rows with its mask and its positions right and wrong."""

import re

import pytest
import torch
from row_cases import LAYERS, random_rows
from seeds import seeds

import packviz as pv
from packviz.compute.rows import rerun
from packviz.facts.row_attention import switched

WORDS = "on your mark\nget set\ngo"


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


@pytest.mark.parametrize("seed", seeds(20))
def test_every_setting_has_the_difference_of_its_own_run(seed: int) -> None:
    run = random_rows(seed, layer="attention")
    for each in switched(run):
        settings = {"isolate": each.isolate, "reset_positions": each.reset_positions, "positions": each.positions}
        other = random_rows(seed, layer="attention", **settings)
        assert each.largest == max(float(piece.max()) for row in other.difference for piece in row)


def test_the_default_batch_shows_what_each_setting_does() -> None:
    every = switched(pv.trace_rows(pv.Batch.parse(WORDS)))
    found = {(str(each.positions), each.isolate, each.reset_positions): each for each in every}
    assert max(found["learned", True, True].largest, found["rope", True, True].largest) < 2e-6
    assert found["rope", True, False].largest < 2e-6
    wrong = [("learned", False, True), ("learned", True, False), ("rope", False, True)]
    assert all(found[case].largest > 0.01 for case in wrong)
    assert found["learned", False, True].documents.startswith("B 0.")


def test_many_documents_are_named_in_short() -> None:
    run = pv.trace_rows(pv.Batch.parse("\n".join("12345678901")))
    assert re.fullmatch(r"B [\d.]+, C .*, I [\d.]+ and 2 more", switched(run)[1].documents)
    assert switched(run)[0].documents == "none: rounding only"


def test_an_odd_head_has_no_rotary_positions() -> None:
    run = pv.trace_rows(pv.Batch.parse(WORDS), pv.RowConfig(embedding_dim=6))
    assert {each.positions for each in switched(run)} == {"learned"}
