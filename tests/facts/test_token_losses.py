"""The weights of losses in every order and mean, beside torch's autograd; and the same documents run by themselves."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from facts_cases import packed_run, padded_run
from row_cases import random_rows
from seeds import seeds
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

import packviz as pv
from packviz.facts import changed_means, draw_head, losses_in_rows, losses_of, means
from packviz.facts.token_losses import ORDERS, TokenLosses

TEXT = "1 2 3 4 5\n4 5\n6 7 8 9"


def grouped(found: TokenLosses, order: Any, losses: Tensor, over: Any, size: int) -> Tensor:
    """Return a mean as a framework takes it, of losses (D, T) that autograd follows."""
    labelled, D = found.labelled[order], len(found.documents)
    of = {
        "tokens": [0] * D,
        "documents": range(D),
        "rows": [row for row, _ in found.places],
        "micro_batches": [d // size for d in range(D)],
    }
    groups = [torch.tensor([own == number for own in of[over]])[:, None] & labelled for number in sorted(set(of[over]))]
    return torch.stack([losses[group].mean() for group in groups if group.any()]).mean()


@pytest.mark.parametrize("seed", seeds(40))
def test_a_weight_is_the_gradient_of_the_mean_by_the_loss(seed: int) -> None:
    r = random_rows(seed)
    found = losses_in_rows(r)
    for order in ORDERS:
        for over, size in (("tokens", 1), ("documents", 1), ("rows", 1), ("micro_batches", 1), ("micro_batches", 2)):
            weights = found.weights(order, over, size)  # type: ignore[arg-type]
            mean = found.mean(order, over, size)  # type: ignore[arg-type]
            assert not weights[~found.labelled[order]].any()
            if not found.labelled[order].any():
                assert not weights.any()
                assert mean != mean
                continue
            losses = found.losses[order].detach().double().clone().requires_grad_()
            expected = grouped(found, order, losses, over, size)
            (gradient,) = torch.autograd.grad(expected, losses)
            torch.testing.assert_close(weights, gradient)
            assert float(weights.max()) <= found.heaviest or over == "micro_batches"
            if mean == mean:
                assert mean == pytest.approx(float(expected.detach()))
            else:  # a micro-batch without a label is 0 / 0
                assert not found.counts(order, "micro_batches", size).all()
    for over, loss in r.loss.items():
        assert found.mean("rows", over) == pytest.approx(loss, nan_ok=True, rel=1e-5)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", seeds(20))
def test_padded_losses_are_those_of_the_model_over_a_padded_grid(seed: int) -> None:
    r = random_rows(seed, causal=True)
    if r.logits is None:
        assert not any(each.any() for each in losses_in_rows(r).labelled.values())
        return
    found = losses_in_rows(r)
    documents = [r.batch.sequences[b][start:stop] for b, start, stop in found.documents]
    ids = pad_sequence(documents, True)
    labels = F.pad(ids[:, 1:], (0, 1), value=-100)
    places = torch.arange(ids.size(1)).unsqueeze(0)
    assert r.model.head is not None
    with torch.no_grad():
        logits = torch.cat([r.model.head(r.model(row[None], places, torch.zeros_like(places))) for row in ids])
    near: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
    expected = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    torch.testing.assert_close(found.losses["padded"], expected, **near)
    assert found.mean("padded") == pytest.approx(
        float(F.cross_entropy(logits.flatten(0, 1), labels.flatten())), rel=1e-4, nan_ok=True
    )
    masked = labels.clone()
    masked[:, :-1][~found.real[:, 1:]] = -100
    assert torch.equal(found.labelled["masked"], masked != -100)
    expected = F.cross_entropy(logits.transpose(1, 2), masked, reduction="none")
    torch.testing.assert_close(found.losses["masked"], expected, **near)
    assert found.real.sum(1).tolist() == list(map(len, documents))


def test_the_weights_are_those_counted_by_hand() -> None:
    r = pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=7, strategy="bfd"))
    found = losses_in_rows(r)
    assert found.places == ((0, 0), (0, 1), (1, 0))

    def by_document(*each: float) -> list[list[float]]:
        return [[weight] * count + [0.0] * (5 - count) for weight, count in zip(each, (4, 1, 3), strict=True)]

    assert found.weights("padded").tolist() == [pytest.approx([1 / 12] * 4 + [0])] * 3
    for order in ("masked", "packed", "rows"):
        assert found.weights(order).tolist() == [pytest.approx(row) for row in by_document(1 / 8, 1 / 8, 1 / 8)]
    assert found.weights("rows", "documents").tolist() == [
        pytest.approx(row) for row in by_document(1 / 12, 1 / 3, 1 / 9)
    ]
    assert found.weights("rows", "rows").tolist() == [pytest.approx(row) for row in by_document(1 / 10, 1 / 10, 1 / 6)]
    two = found.weights("masked", "micro_batches", 2).tolist()
    assert two == [pytest.approx(row) for row in by_document(1 / 10, 1 / 10, 1 / 6)]


@pytest.mark.parametrize("shift", ["document", "row"])
def test_alone_each_document_is_run_by_itself(shift: str) -> None:
    r = pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=11, isolate=False, shift_labels=shift))  # type: ignore[arg-type]
    own = []
    for row in TEXT.splitlines():
        ids = torch.tensor([list(map(int, row.split()))])
        places = torch.arange(ids.size(1)).unsqueeze(0)
        with torch.no_grad():
            assert r.model.head is not None
            logits = r.model.head(r.model(ids, places, torch.zeros_like(ids)))
        own.append(F.cross_entropy(logits[0, :-1], ids[0, 1:], reduction="none"))
    found = means(r)
    assert found["tokens"][0] == pytest.approx(float(torch.cat(own).mean()), rel=1e-5)
    each = sum(float(losses.mean()) for losses in own) / 3
    assert found["documents"][0] == found["rows"][0] == pytest.approx(each, rel=1e-5)
    assert [other for _, other in found.values()] == list(r.loss.values())
    assert found["tokens"][0] != pytest.approx(found["tokens"][1], rel=1e-4)  # without borders


@pytest.mark.parametrize("positions", ["learned", "rope", "none"])
def test_rows_of_another_length_leave_each_document_alone_as_it_is(positions: Any) -> None:
    found = [
        means(pv.trace_rows(pv.Batch.parse("1 2 3\n4 5\n6"), pv.RowConfig(max_length=C, positions=positions)))
        for C in (None, 17, 4, 3)
    ]
    for other in found[1:]:
        assert other["tokens"][0] == pytest.approx(found[0]["tokens"][0], rel=1e-4)


def test_packing_with_borders_changes_only_the_mean_over_rows() -> None:
    found = means(pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=11)))
    for name, (padded, packed) in found.items():
        assert (padded == pytest.approx(packed, rel=1e-5)) == (name != "rows")


def test_nan_is_equal_to_nan_and_rounding_changes_no_mean() -> None:
    assert changed_means(pv.trace_rows(pv.Batch.parse("1\n2\n3"))) == ()
    assert changed_means(pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=11))) == ("rows",)


def test_positions_that_run_on_change_the_mean_over_tokens_although_nothing_else_crosses() -> None:
    assert "tokens" in changed_means(pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(reset_positions=False)))


def test_a_micro_batch_without_a_label_makes_the_mean_of_means_nan() -> None:
    found = losses_in_rows(pv.trace_rows(pv.Batch.parse("1 2 3\n4")))
    assert found.mean("masked", "micro_batches", 1) != found.mean("masked", "micro_batches", 1)
    assert found.mean("masked") == found.mean("masked", "micro_batches", 2)


@pytest.mark.parametrize("size", [0, -2, 1.5, True])
def test_a_micro_batch_has_at_least_one_document(size: Any) -> None:
    run = pv.trace_rows(pv.Batch.parse(TEXT))
    with pytest.raises(pv.PackvizError, match="size"):
        losses_in_rows(run).mean("masked", "micro_batches", size)
    with pytest.raises(pv.PackvizError, match="micro_batch"):
        pv.movie(run, ("losses",), micro_batch=size)


def test_the_losses_of_a_trace_are_those_of_its_padded_and_packed_output(seen: pv.Trace) -> None:
    found, task = losses_of(seen, 5), draw_head(seen, 5)
    head, target = task.head, task.target
    near: dict[str, Any] = {"rel": 1e-4, "abs": 1e-5}
    lengths = seen.padded.lengths
    padded, packed = (head(run(seen)[0]).detach() for run in (padded_run, packed_run))
    ignored = target.masked_fill(~seen.padded.mask, -100).flatten()
    theirs = {
        "padded": F.cross_entropy(padded.flatten(0, 1), target.flatten()),
        "masked": F.cross_entropy(padded.flatten(0, 1), ignored),
    }
    logits, classes = (
        pack_padded_sequence(each, lengths, True, enforce_sorted=False).data for each in (packed, target)
    )
    theirs["packed"] = F.cross_entropy(logits, classes)
    for order, loss in theirs.items():
        assert found.mean(order) == pytest.approx(float(loss), **near)  # type: ignore[arg-type]
    cells = F.cross_entropy(packed.transpose(1, 2), target, reduction="none")
    over_sequences = torch.stack([row[:length].mean() for row, length in zip(cells, lengths.tolist(), strict=True)])
    assert found.mean("packed", "documents") == pytest.approx(float(over_sequences.mean()), **near)
