"""The weights of tokens in three means of a loss, gradient accumulation, and the same documents run by themselves."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from row_cases import random_rows
from seeds import seeds

import packviz as pv
from packviz.facts import accumulated, changed_means, means, token_weights
from packviz.facts.row_losses import heaviest

TEXT = "1 2 3 4 5\n4 5\n6 7 8 9"


@pytest.mark.parametrize("seed", seeds(60))
def test_the_weighted_losses_add_up_to_each_mean(seed: int) -> None:
    r = random_rows(seed)
    for name, weights in token_weights(r).items():
        assert weights.shape == r.losses.shape
        assert not weights[r.labels == -100].any()
        if (r.labels != -100).any():
            assert float(weights.sum()) == pytest.approx(1)
            assert float((weights * r.losses).sum()) == pytest.approx(r.loss[name], rel=1e-5)
            assert float(weights.max()) <= heaviest(r)
        else:
            assert not weights.any()
            assert heaviest(r) == 1.0


def test_the_weights_are_those_counted_by_hand() -> None:
    r = pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=7, strategy="bfd"))
    found = token_weights(r)
    assert found["tokens"].flatten().tolist() == pytest.approx([1 / 8] * 4 + [0, 1 / 8, 0] + [1 / 8] * 3 + [0] * 4)
    documents = [1 / 12] * 4 + [0, 1 / 3, 0] + [1 / 9] * 3 + [0] * 4
    assert found["documents"].flatten().tolist() == pytest.approx(documents)
    assert found["rows"].flatten().tolist() == pytest.approx([1 / 10] * 4 + [0, 1 / 10, 0] + [1 / 6] * 3 + [0] * 4)


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


def test_positions_alone_change_the_mean_over_tokens() -> None:
    assert "tokens" in changed_means(pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(reset_positions=False)))


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_accumulated_gradients_divided_by_all_tokens_are_right(size: int) -> None:
    r = pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=7, strategy="bfd"))
    parts = [r.losses[0, :4], r.losses[0, 5:6], r.losses[1, :3]]  # A, B and C, without the last token of each
    groups = [torch.cat(parts[at : at + size]) for at in range(0, 3, size)]
    found = accumulated(r, size)
    assert [tokens for _, tokens in found.batches] == [len(group) for group in groups]
    assert found.right == pytest.approx(r.loss["tokens"])
    assert found.wrong == pytest.approx(float(torch.stack([group.mean() for group in groups]).mean()))
    assert (found.right == pytest.approx(found.wrong)) == (size >= 3)


def test_a_micro_batch_without_a_target_makes_the_wrong_mean_nan() -> None:
    found = accumulated(pv.trace_rows(pv.Batch.parse("1 2 3\n4")), 1)
    assert found.wrong != found.wrong
    assert found.right == found.right


@pytest.mark.parametrize("size", [0, 1.5, True, None])
def test_a_micro_batch_has_at_least_one_document(size: object) -> None:
    with pytest.raises(pv.PackvizError, match="size"):
        accumulated(pv.trace_rows(pv.Batch.parse(TEXT)), size)  # type: ignore[arg-type]
