"""The repairs that check_samples() and check_rows() name run, and give what the finding asks for."""

from typing import Any

import pytest
import torch
from torch import nn

from packviz.inputs.documents import cu_seqlens_of, document_mask_of, position_ids_of, seq_idx_of
from packviz.rules.repairs import checks

LENGTHS = [3, 2, 4]
ORDER = torch.tensor([2, 0, 1])  # by decreasing length
OUTPUT = torch.randn(3, 4, 5)
MASK = torch.arange(4) < torch.tensor(LENGTHS)[:, None]
LEAK = {"by_length": False, "shifted": False, "recurrent": "", "statistics": ""}


def names() -> dict[str, Any]:
    documents = [torch.randn(n, 5) for n in LENGTHS]
    return {
        "model": nn.Sequential(nn.BatchNorm1d(5)),
        "documents": documents,
        "samples": documents,
        "lengths": torch.tensor(LENGTHS),
        "cu_seqlens": cu_seqlens_of(LENGTHS),
        "seq_idx": seq_idx_of(LENGTHS)[None],
        "position_ids": position_ids_of(LENGTHS)[None],
        "starts": cu_seqlens_of(LENGTHS)[:-1].long(),
        "labels": torch.arange(9),
        "output": OUTPUT,
        "outputs": [documents[b] for b in ORDER.tolist()],
        "order": ORDER,
        "h_n": torch.randn(2, 3, 4),
        "losses": torch.rand(3, 4),
        "mask": MASK,
        "x": torch.cat(documents)[None],
        "conv": lambda part: part * 2,
    }


def repaired(key: str, given: dict[str, Any], **told: Any) -> dict[str, Any]:
    exec(checks.REPAIRS[key](None, rows=(), steps=(), **told), given)
    return given


def test_every_repair_of_a_check_is_carried_out_here() -> None:
    assert {*CASES, "leak"} == {*checks.REPAIRS}


CASES: dict[str, Any] = {
    "run_differs": lambda got: not got["model"].training,
    "order_differs": lambda got: torch.equal(got["output"][ORDER], OUTPUT),
    "place_matters": lambda got: torch.equal(got["position_ids"], position_ids_of(LENGTHS)[None]),
    "positions": lambda got: torch.equal(got["position_ids"], position_ids_of(LENGTHS)[None]),
    "flows_on": lambda got: torch.equal(got["mask"], document_mask_of(LENGTHS)[None, None]),
    "flows_back": lambda got: got["labels"].tolist() == [-100, 1, 2, -100, 4, -100, 6, 7, 8],
    "batch_matters": lambda got: not got["model"].training,
    "samples_mixed": lambda got: torch.equal(got["h"][1], torch.cat([got["h_n"][0, 1], got["h_n"][1, 1]])),
    "width_matters": lambda got: torch.allclose(got["mean"][1], OUTPUT[1, :2].mean(0)),
    "count_matters": lambda got: torch.allclose(got["loss"][1], got["losses"][1, :2].mean()),
    "shape_differs": lambda got: got["lengths"].tolist() == LENGTHS,
    "convolution": lambda got: torch.equal(got["output"], got["x"] * 2),
}


@pytest.mark.parametrize("key", CASES)
def test_a_repair_runs_and_gives_what_its_finding_asks_for(key: str) -> None:
    assert CASES[key](repaired(key, names()))


@pytest.mark.parametrize("cause", ["by_length", "shifted", "recurrent", "statistics", ""])
def test_the_repair_of_a_leak_fits_its_cause(cause: str) -> None:
    given = {**names(), "labels": torch.arange(9)[None]}
    order = given["order"].tolist()
    got = repaired("leak", {**given, "order": order}, **{**LEAK, **({cause: "GRU"} if cause else {})})
    if cause == "by_length":
        assert all(map(torch.equal, got["outputs"], got["documents"]))
    elif cause == "shifted":
        assert (got["labels"] == -100).nonzero()[:, 1].tolist() == [3, 5]
    elif cause == "recurrent":
        assert got["packed"].batch_sizes.tolist() == [3, 3, 2, 1]
    elif cause == "statistics":
        assert not got["model"].training
    else:
        assert torch.equal(got["mask"], document_mask_of(LENGTHS)[None, None])
        assert got["starts"].tolist() == [(position_ids_of(LENGTHS) == 0).tolist()]
