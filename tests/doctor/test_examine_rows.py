"""examine_rows(): each mistake in a row has its finding, its repair runs and mends it, and right rows are clean."""

from typing import Any

import pytest
import torch

import packviz as pv
from packviz.inputs.documents import cu_seqlens_of, position_ids_of, segment_ids_of, seq_idx_of
from packviz.rules.repairs import REPAIRS
from packviz.rules.repairs import rows as repairs

LENGTHS = (3, 2, 4)
IDS = torch.tensor([[5, 6, 7, 8, 9, 10, 11, 12, 13]])
LABELS = torch.tensor([[-100, 6, 7, -100, 9, -100, 11, 12, 13]])  # in place: the model shifts them
RIGHT: dict[str, Any] = {
    "input_ids": IDS,
    "position_ids": position_ids_of(LENGTHS)[None],
    "cu_seqlens": cu_seqlens_of(LENGTHS),
    "max_seqlen": 4,
    "seq_idx": seq_idx_of(LENGTHS)[None],
    "labels": LABELS,
    "documents": [[5, 6, 7], [8, 9], [10, 11, 12, 13]],
}
PADDED = torch.tensor([[1, 1, 1, 0, 1, 1, 0, 0, 1]])
WRONG: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no leading 0": ({"cu_seqlens": [3, 5, 9], "input_ids": IDS}, ["offsets_lack_zero"]),
    "an end that is not N": ({"cu_seqlens": [0, 3, 5], "input_ids": IDS}, ["offsets_end"]),
    "an end beyond N": ({"cu_seqlens": [0, 3, 5, 11], "input_ids": IDS}, ["offsets_end"]),
    "falling offsets": ({"cu_seqlens": [0, 5, 3, 9], "input_ids": IDS}, ["offsets_fall"]),
    "repeated offsets": ({"cu_seqlens": [0, 3, 3, 9], "input_ids": IDS}, ["offsets_repeat"]),
    "lengths": ({"cu_seqlens": [3, 2, 4], "input_ids": IDS}, ["offsets_are_lengths"]),
    "rising lengths": ({"cu_seqlens": [2, 3, 4], "input_ids": IDS}, ["offsets_are_lengths"]),
    "an end before two pads": ({"cu_seqlens": [0, 2, 5], "input_ids": IDS[:, :7]}, ["offsets_end"]),
    "lengths and no row": ({"cu_seqlens": [3, 2, 4]}, ["offsets_are_lengths"]),
    "int64": ({"cu_seqlens": torch.tensor([0, 3, 9]), "input_ids": IDS}, ["offsets_dtype"]),
    "real offsets of a row with pads": (
        {"cu_seqlens": [0, 3, 5, 6], "attention_mask": PADDED},
        ["offsets_without_pads", "mask_is_no_ids"],
    ),
    "max_seqlen": ({"cu_seqlens": [0, 3, 9], "max_seqlen": 5}, ["max_seqlen_small"]),
    "positions that run on": (
        {"position_ids": torch.arange(9)[None], "cu_seqlens": [0, 3, 5, 9]},
        ["positions_run_on"],
    ),
    "positions from 1 in later documents": (
        {"position_ids": [0, 1, 2, 1, 2, 1, 2, 3, 4], "cu_seqlens": [0, 3, 5, 9]},
        ["positions_uneven", "rules_disagree"],
    ),
    "positions from 2": (
        {"position_ids": position_ids_of(LENGTHS, start=2)},
        ["positions_start_elsewhere", "rules_disagree"],
    ),
    "pads of 0": (
        {"position_ids": position_ids_of((3, 2), 8)[None], "seq_idx": seq_idx_of((3, 2), 8)},
        ["pads_begin_documents", "rules_disagree"],
    ),
    "pads of 0, alone": ({"position_ids": [0, 1, 2, 0, 1, 0, 0, 0]}, ["pads_begin_documents", "rules_disagree"]),
    "one-token documents": ({"position_ids": [0, 1, 2, 0, 0, 0, 1]}, ["rules_disagree"]),
    "a mask of ones": (
        {"position_ids": position_ids_of(LENGTHS), "attention_mask": torch.ones(1, 9, dtype=torch.int64)},
        ["mask_of_ones"],
    ),
    "a mask for ids": (
        {"seq_idx": seq_idx_of((3, 2), 6), "attention_mask": [1, 1, 1, 1, 1, 0]},
        ["mask_is_no_ids"],
    ),
    "other borders": ({"cu_seqlens": [0, 3, 5, 9], "seq_idx": seq_idx_of((3, 6))}, ["borders_differ"]),
    "a number again": ({"input_ids": IDS, "seq_idx": [[0, 0, 0, 1, 1, 0, 0, 2, 2]]}, ["number_repeats"]),
    "a number again, with pads": ({"attention_mask": [[1, 1, 2, 2, 1, 1, 0, 0]]}, ["number_repeats"]),
    "labels over a border": ({"cu_seqlens": [0, 3, 9], "input_ids": IDS, "labels": IDS}, ["labels_cross"]),
    "shifted labels over a border": (
        {"cu_seqlens": [0, 3, 9], "input_ids": IDS, "labels": [[6, 7, 8, 9, 10, 11, 12, 13, -100]]},
        ["labels_cross"],
    ),
    "labels shifted twice": (
        {"cu_seqlens": [0, 9], "input_ids": IDS, "labels": [[7, 8, 9, 10, 11, 12, 13, -100, -100]]},
        ["labels_shifted_twice"],
    ),
    "a document without a target": (
        {"cu_seqlens": [0, 3, 4, 9], "input_ids": IDS, "labels": [[-100, 6, 7, -100, -100, 10, 11, 12, 13]]},
        ["no_target"],
    ),
    "a document cut": ({**RIGHT, "documents": [[5, 6, 7, 1], [8, 9], [10, 11, 12, 13]]}, ["document_cut"]),
    "a document dropped": ({**RIGHT, "documents": [[5, 6, 7], [8, 9], [10, 11, 12, 13], [1]]}, ["document_dropped"]),
    "a document cut, by lengths": ({"cu_seqlens": [0, 3, 5, 9], "documents": [5, 2, 3]}, ["document_cut"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_found_and_its_repair_mends_it(name: str) -> None:
    given, keys = WRONG[name]
    found = pv.examine_rows(**given)
    assert [one.key for one in found] == keys, str(found)
    for one in found:
        if one.repair:
            values = dict(given)
            exec(one.repair, values)
            again = pv.examine_rows(**{key: values[key] for key in given})
            assert one.key not in [other.key for other in again], str(again)


ROWS_WRONG: dict[str, dict[str, Any]] = {
    "positions_run_on": {"position_ids": [[0, 1, 2, 0, 1], [0, 1, 2, 3, 4]], "seq_idx": [[0, 0, 0, 1, 1]] * 2},
    "positions_start_elsewhere": {"position_ids": [[0, 1, 2, 0, 1], [2, 3, 4, 2, 3]]},
    "pads_begin_documents": {
        "position_ids": [[0, 1, 2, 3, 4], [0, 1, 2, 0, 0]],
        "attention_mask": [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]],
    },
    "mask_is_no_ids": {
        "seq_idx": [[0, 0, 0, 1, 1], [0, 0, 1, 1, -1]],
        "attention_mask": [[1, 1, 1, 2, 2], [1, 1, 1, 1, 0]],
    },
    "number_repeats": {"seq_idx": [[0, 0, 0, 1, 1], [0, 0, 1, 0, 0]]},
    "labels_cross": {
        "input_ids": [[5, 6, 7, 8, 9]] * 2,
        "labels": [[-100, 6, 7, -100, 9], [5, 6, 7, 8, 9]],
        "seq_idx": [[0, 0, 0, 1, 1]] * 2,
    },
    "labels_shifted_twice": {
        "input_ids": [[5, 6, 7, 8, 9]] * 2,
        "labels": [[6, 7, 8, 9, -100], [7, 8, 9, -100, -100]],
    },
    "mask_of_ones": {"position_ids": [[0, 1, 2, 3, 4], [0, 1, 2, 0, 1]], "attention_mask": [[1] * 5] * 2},
}


@pytest.mark.parametrize("key", ROWS_WRONG)
def test_the_repair_of_one_row_of_a_batch_mends_that_row_alone(key: str) -> None:
    given = ROWS_WRONG[key]
    (found,) = [one for one in pv.examine_rows(**given) if one.key == key]
    assert found.where.startswith("row 1, ")
    values = dict(given)
    exec(found.repair, values)
    assert key not in [one.key for one in pv.examine_rows(**{name: values[name] for name in given})]
    for name in given:
        if values[name] is not None:
            assert torch.equal(torch.as_tensor(values[name])[0], torch.tensor(given[name][0]))


@pytest.mark.parametrize(
    ("positions", "where"),
    [([0, 1, 2, 0, 0, 1], "cell 4"), ([0] * 8 + [1], "cells 1, 2, 3, 4, 5 and 2 more")],
)
def test_the_cells_in_which_rules_disagree_are_named(positions: list[int], where: str) -> None:
    (found,) = [one for one in pv.examine_rows(position_ids=positions) if one.key == "rules_disagree"]
    assert found.where == f"position_ids in {where}"


@pytest.mark.parametrize(
    ("beside", "assumed"), [({}, True), ({"attention_mask": [1, 1, 1, 0, 0]}, False), ({"cu_seqlens": [0, 3]}, False)]
)
def test_pads_that_nothing_names_are_said_to_be_assumed(beside: dict[str, Any], assumed: bool) -> None:
    found = pv.examine_rows(position_ids=[0, 1, 2, 0, 0], **beside)
    (pads,) = [one for one in found if one.key == "pads_begin_documents"]
    assert ("because two or more equal positions end the row" in pads.found) == assumed
    assert [one for one in pv.examine_rows(position_ids=[0, 1, 2, 0]) if one.key == "pads_begin_documents"] == []


def test_positions_say_that_the_last_offset_is_replaced() -> None:
    given: dict[str, Any] = {"position_ids": [0, 1, 2, 3, 0, 1, 0, 1, 2], "cu_seqlens": [0, 4, 6, 8]}
    (found,) = [one for one in pv.examine_rows(**given) if one.key == "offsets_end"]
    assert "no document holds the last token" in " ".join(found.found.split())
    assert found.repair
    exec(found.repair, given)
    assert given["cu_seqlens"].tolist() == [0, 4, 6, 9]


def test_every_repair_is_carried_out_by_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    made = set[str]()

    def noted(name: str, repair: Any) -> Any:
        def write(*given: Any, **told: Any) -> Any:
            made.add(name)
            return repair(*given, **told)

        return write

    for name, repair in repairs.REPAIRS.items():
        monkeypatch.setitem(REPAIRS, name, noted(name, repair))
    for given, _ in WRONG.values():
        assert pv.examine_rows(**given)
    assert made == {*repairs.REPAIRS}


def test_a_right_row_is_clean() -> None:
    assert pv.examine_rows(**RIGHT) == ()
    for name in ("position_ids", "cu_seqlens", "seq_idx"):
        assert pv.examine_rows(IDS, labels=LABELS, **{name: RIGHT[name]}) == ()
    assert pv.examine_rows(attention_mask=segment_ids_of(LENGTHS, 12)) == ()
    shifted = [[6, 7, -100, 9, -100, 11, 12, 13, -100]]
    assert pv.examine_rows(IDS, cu_seqlens=cu_seqlens_of(LENGTHS), labels=shifted) == ()
    assert pv.examine_rows(IDS, attention_mask=[1] * 9) == ()


@pytest.mark.parametrize(
    ("numbers", "offsets"),
    [
        ({"seq_idx": [[0, 1, 1], [0, 1, 1]]}, [0, 1, 3, 4, 6]),
        ({"seq_idx": [[0, 0, 0], [0, 0, 0]]}, [0, 3, 6]),
        ({"attention_mask": [[1, 2, 2], [1, 1, 1]]}, [0, 1, 3, 6]),
    ],
)
def test_rows_may_number_their_documents_alike(numbers: Any, offsets: list[int]) -> None:
    assert pv.examine_rows(IDS[:, :6].view(2, 3), cu_seqlens=offsets, **numbers) == ()


def test_a_padded_batch_may_have_the_offsets_of_its_tokens() -> None:
    given: dict[str, Any] = {"input_ids": [[5, 6, 7], [8, 9, 0]], "cu_seqlens": torch.tensor([0, 3, 5]).int()}
    given |= {"attention_mask": [[1, 1, 1], [1, 1, 0]], "max_seqlen": 3}
    assert pv.examine_rows(**given) == ()
    whole = given | {"attention_mask": [[1, 1, 1]] * 2, "cu_seqlens": torch.tensor([0, 3, 6]).int()}
    assert pv.examine_rows(**whole) == ()
    (found,) = pv.examine_rows(**given | {"max_seqlen": 2})
    assert found.key == "max_seqlen_small"


def test_an_additive_mask_is_refused_with_what_to_give_instead() -> None:
    mask = torch.tensor([[0.0, -torch.inf], [0.0, 0.0]])[None, None]
    with pytest.raises(pv.PackvizError) as refused:
        pv.examine_rows(attention_mask=mask)
    assert refused.value.fix.endswith("attention_mask == 0")
    assert pv.examine_rows(attention_mask=mask == 0) == ()


def test_documents_longer_than_a_row_lose_a_token() -> None:
    ids = torch.tensor([1, 2, 3, 4])
    (cut,) = pv.examine_rows(ids, cu_seqlens=cu_seqlens_of([4]), documents=[[1, 2, 3, 4, 5]])
    assert (cut.key, cut.sequences) == ("document_cut", (0,))


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({}, "examine_rows"),
        ({"input_ids": [1, 2], "labels": [1]}, "examine_rows"),
        ({"input_ids": [0.5]}, "input_ids"),
        ({"input_ids": [[[1], [2]]]}, "input_ids"),
        ({"input_ids": [1], "max_seqlen": "4"}, "max_seqlen"),
        ({"input_ids": [1], "documents": 3}, "documents"),
        ({"input_ids": [1], "ignore": "no_such_key"}, "ignore"),
    ],
)
def test_what_cannot_be_examined_is_refused(given: Any, parameter: str) -> None:
    with pytest.raises(pv.PackvizError) as refused:
        pv.examine_rows(**given)
    assert refused.value.parameter == parameter
