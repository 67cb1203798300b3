"""The repairs that check_samples() and check_rows() name run, and give what the finding asks for."""

from typing import Any

import pytest
import torch
from document_cases import Convolution, Model, documents, runs_on
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, unpack_sequence

import packviz as pv
from packviz.inputs.documents import cu_seqlens_of, document_mask_of, position_ids_of, seq_idx_of
from packviz.rules.repairs import checks

LENGTHS = [3, 2, 4]
ORDER = torch.tensor([2, 0, 1])  # by decreasing length
OUTPUT = torch.randn(3, 4, 5)
MASK = torch.arange(4) < torch.tensor(LENGTHS)[:, None]
CONV = nn.Conv1d(5, 6, 3, padding=2)


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
        "norm": nn.BatchNorm1d(5, track_running_stats=False),
        "conv": CONV,
    }


def repaired(key: str, given: dict[str, Any], **told: Any) -> dict[str, Any]:
    exec(checks.REPAIRS[key](None, rows=(), steps=(), **{**SEEN, **told}), given)
    return given


def test_every_repair_of_a_check_is_carried_out_here() -> None:
    assert {*CASES, "leak", "run_differs", "order_differs", "results_moved"} == {*checks.REPAIRS}


def causal(document: Tensor) -> Tensor:
    """Return CONV of a document alone: (n, 5) to (n, 6), each token from itself and the two before it."""
    before = nn.functional.pad(document.T, (2, 0))
    return nn.functional.conv1d(before, CONV.weight, CONV.bias).T


SEEN = {"convolves": True, "divided": "tokens"}  # what a repair is only given for
CASES: dict[str, Any] = {
    "place_matters": lambda got: torch.equal(got["position_ids"], position_ids_of(LENGTHS)[None]),
    "positions": lambda got: torch.equal(got["position_ids"], position_ids_of(LENGTHS)[None]),
    "flows_on": lambda got: torch.equal(got["mask"], document_mask_of(LENGTHS)[None, None]),
    "flows_back": lambda got: got["labels"].tolist() == [-100, 1, 2, -100, 4, -100, 6, 7, 8],
    "batch_matters": lambda got: not got["model"].training,
    "samples_mixed": lambda got: torch.equal(got["h"][1], torch.cat([got["h_n"][0, 1], got["h_n"][1, 1]])),
    "width_matters": lambda got: torch.allclose(got["mean"][1], OUTPUT[1, :2].mean(0)),
    "count_matters": lambda got: torch.allclose(got["loss"][1], got["losses"][1, :2].mean()),
    "shape_differs": lambda got: got["lengths"].tolist() == LENGTHS,
    "convolution": lambda got: torch.allclose(
        got["output"][0], torch.cat([causal(d) for d in got["documents"]]), atol=1e-6
    ),
}


@pytest.mark.parametrize("key", CASES)
def test_a_repair_runs_and_gives_what_its_finding_asks_for(key: str) -> None:
    assert CASES[key](repaired(key, names()))


@pytest.mark.parametrize("cause", ["sorted_by_length", "labels_shifted", "recurrent_layer", "statistics", "no_borders"])
def test_the_repair_of_a_leak_fits_its_cause(cause: str) -> None:
    given = {**names(), "labels": torch.arange(9)[None]}
    order = given["order"].tolist()
    got = repaired("leak", {**given, "order": order}, cause=cause)
    if cause == "sorted_by_length":
        assert all(map(torch.equal, got["outputs"], got["documents"]))
    elif cause == "labels_shifted":
        assert (got["labels"] == -100).nonzero()[:, 1].tolist() == [3, 5]
    elif cause == "recurrent_layer":
        assert got["packed"].batch_sizes.tolist() == [3, 3, 2, 1]
    elif cause == "statistics":
        row = got["norm"](torch.cat(given["documents"]))
        assert torch.allclose(row[:3], got["norm"](given["documents"][0]), atol=1e-6)
    else:
        assert torch.equal(got["mask"], document_mask_of(LENGTHS)[None, None])
        assert got["starts"].tolist() == [(position_ids_of(LENGTHS) == 0).tolist()]


class Drops(nn.Module):
    """A model that forgets, or not, to tell its dropout whether it trains."""

    def __init__(self, repair: str = "") -> None:
        super().__init__()
        self.repair = repair

    def forward(self, x: Tensor, *_: object) -> Tensor:
        names: dict[str, Any] = {"x": x, "self": self}
        exec(self.repair or "from torch.nn import functional; x = functional.dropout(x)", names)
        return names["x"]  # type: ignore[no-any-return]


def test_a_model_that_draws_in_evaluation_mode_is_repaired() -> None:
    batch, lengths = torch.randn(3, 4, 5), [4, 2, 3]
    (found,) = pv.check_invariance(Drops(), batch, lengths, batch_first=True)
    assert found.key == "run_differs"
    assert pv.check_invariance(Drops(found.repair), batch, lengths, batch_first=True) == ()
    (found,) = pv.check_rows(Drops(), [torch.randn(n, 5) for n in LENGTHS])
    assert pv.check_rows(Drops(found.repair), [torch.randn(n, 5) for n in LENGTHS]) == ()


def test_a_model_that_draws_in_training_is_repaired() -> None:
    samples, model = [torch.randn(n, 5) for n in LENGTHS], nn.Dropout()
    (found,) = pv.check_samples(lambda s: [model(one) for one in s], samples)
    exec(found.repair, {"model": model})
    assert pv.check_samples(lambda s: [model(one) for one in s], samples) == ()


def test_a_model_that_keeps_a_state_has_no_repair() -> None:
    kept: list[Tensor] = []

    def run(samples: list[Tensor]) -> list[Tensor]:
        kept.append(samples[0])
        return [one + len(kept) for one in samples]

    (found,) = pv.check_samples(run, [torch.randn(n, 5) for n in LENGTHS])
    assert (found.key, found.repair) == ("run_differs", "")


def test_only_a_convolution_is_repaired_as_one() -> None:
    """A window of attention and a shift reach back as far, but there is no conv to call."""

    def windowed(model: Model, row: Any) -> Tensor:
        back = runs_on(row).T - runs_on(row)
        return model(row.input_ids, row.position_ids, (back >= 0) & (back < 2))  # type: ignore[no-any-return]

    def shifted(_: Any, row: Any) -> Tensor:
        return row.input_ids + nn.functional.pad(row.input_ids, (1, 0))[:, :-1]  # type: ignore[no-any-return]

    given = documents((6, 7, 6))
    by_convolution = pv.check_rows(Convolution(3), given)
    by_others = [*pv.check_rows(Model(), given, windowed), *pv.check_rows(Model(), given, shifted)]
    assert [one.key for one in (*by_convolution, *by_others)] == ["convolution"] * 3
    assert "conv(" in by_convolution[0].repair
    assert [one.repair for one in by_others] == ["", ""]
    assert all("no convolution of torch was seen" in one.found for one in by_others)


@pytest.mark.parametrize(
    ("result", "divided"),
    [
        (lambda one, s: one.sum() / len(s), "samples"),
        (lambda one, s: one / len(s), "samples"),
        (lambda one, s: one.sum() / sum(map(len, s)), "tokens"),
        (lambda one, s: one[1:].sum() / sum(len(each) - 1 for each in s), "tokens"),
        (lambda one, s: one.sum() + len(s), ""),
        (lambda one, s: one.mean() / len(s) ** 0.5, ""),
        (lambda one, s: str(one.shape) * len(s), ""),
    ],
)
def test_a_mean_over_the_batch_is_repaired_if_it_is_seen(result: Any, divided: str) -> None:
    samples = [torch.randn(n, 5) + 3 for n in (4, 5, 3)]
    (found,) = pv.check_samples(lambda s: [result(one, s) for one in s], samples)
    assert found.key == "count_matters"
    assert (f"a sum is divided by the number of {divided} of" in found.found) == bool(divided)
    assert ("mask.sum(1)" in found.repair) == bool(divided)


def test_of_samples_of_one_length_both_are_counted() -> None:
    (found,) = pv.check_samples(lambda s: [one.sum() / len(s) for one in s], [torch.randn(4) + 3 for _ in range(3)])
    assert "divided by the number of samples or tokens of" in found.found


def test_the_repair_of_results_in_another_order_puts_them_back() -> None:
    moved = repaired("order_differs", names(), cause="moved")
    assert torch.equal(moved["output"][ORDER], OUTPUT)
    assert "argsort" in checks.REPAIRS["results_moved"](None)


@pytest.mark.parametrize("batch_first", [True, False])
def test_the_repair_of_a_state_that_flows_on_packs(batch_first: bool) -> None:
    batch = torch.randn(3, 4, 5) if batch_first else torch.randn(4, 3, 5)
    given = {"batch": batch, "lengths": LENGTHS, "batch_first": batch_first}
    got = repaired("order_differs", given, cause="flows")["packed"]
    assert unpack_sequence(got)[1].equal(batch[1, :2] if batch_first else batch[:2, 1])


def test_mixed_sequences_get_no_order_to_undo() -> None:
    rnn, lengths = nn.GRU(5, 4, batch_first=True, bidirectional=True), [4, 2, 3]

    def viewed(model: nn.GRU, batch: Tensor, lengths: Any) -> Tensor:
        packed = pack_padded_sequence(batch, lengths, batch_first=True, enforce_sorted=False)
        return model(packed)[1].reshape(len(batch), -1)  # type: ignore[no-any-return]

    found = pv.check_invariance(rnn, torch.randn(3, 4, 5), lengths, batch_first=True, call=viewed)
    (order,) = [one for one in found if one.key == "order_differs"]
    assert "Sequences are mixed" in order.found
    state = torch.randn(2, 3, 4)
    names: dict[str, Any] = {"h_n": state}
    exec(order.repair, names)
    assert torch.equal(names["h"], torch.cat([*state], 1))
