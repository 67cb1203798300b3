"""`packviz examine` for what a collator returned and somebody saved: rows of documents, by the names of their parts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from doctor_cases import npz, objects, saved
from safetensors.torch import save

import packviz as pv
from packviz.__main__ import main
from packviz.doctor import read_file, read_isolated, rows_in
from packviz.inputs.documents import cu_seqlens_of, document_mask_of, position_ids_of

IDS = torch.tensor([[5, 6, 7, 8, 9, 10, 11, 12, 13]])
RIGHT: dict[str, Any] = {
    "input_ids": IDS,
    "position_ids": position_ids_of((3, 2, 4))[None],
    "cu_seqlens": cu_seqlens_of((3, 2, 4)),
    "max_seqlen": 4,
    "labels": torch.tensor([[-100, 6, 7, -100, 9, -100, 11, 12, 13]]),
}
WRONG = {**RIGHT, "max_seqlen": 3, "cu_seqlens": torch.tensor([0, 3, 9], dtype=torch.int32)}
ROWS: dict[str, Any] = {  # two rows; in the second the labels cross the border
    "input_ids": torch.tensor([[5, 6, 7, 8, 9, 0], [5, 6, 7, 8, 9, 10]]),
    "position_ids": torch.tensor([[0, 1, 2, 0, 1, 0], [0, 1, 2, 0, 1, 2]]),
    "attention_mask": torch.tensor([[1, 1, 1, 2, 2, 0], [1, 1, 1, 2, 2, 2]]),
    "labels": torch.tensor([[5, 6, 7, -100, 9, -100], [5, 6, 7, 8, 9, 10]]),
}


def arrays(batch: dict[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(value) for name, value in batch.items()}


def lists(batch: dict[str, Any]) -> dict[str, Any]:
    return {name: value.tolist() if isinstance(value, torch.Tensor) else value for name, value in batch.items()}


SAVED: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "batch.npz": lambda batch: npz(**arrays(batch)),
    "batch.pt": saved,
    "lists.pt": lambda batch: saved({"step": 7, "batch": lists(batch)}),
    "batch.json": lambda batch: json.dumps(lists(batch)).encode(),
    "batch.safetensors": lambda batch: save({name: torch.as_tensor(value) for name, value in batch.items()}),
}


class BatchEncoding(dict[str, Any]):
    """What a tokenizer returns is a class of its own, as this one is."""


@pytest.mark.parametrize("name", SAVED)
def test_a_collated_batch_is_examined_as_rows(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / name
    file.write_bytes(SAVED[name](RIGHT))
    assert main(["examine", str(file)]) == 0
    assert "Nothing found." in capsys.readouterr().out
    file.write_bytes(SAVED[name](WRONG))
    assert main(["examine", str(file), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [one["key"] for one in found] == ["max_seqlen_small", "labels_cross"] or found[0][
        "key"
    ] == "max_seqlen_small"


@pytest.mark.parametrize(
    ("batch", "field"),
    [
        ({"tokens": IDS, "cu_seq_lens_q": cu_seqlens_of((3, 6)), "max_length_q": 6}, "max_seqlen"),
        ({"input_ids": IDS, "cu_seqlens": cu_seqlens_of((3, 6))}, "cu_seqlens"),
        ({"input_ids": IDS, "attention_mask": torch.ones(1, 9)}, "attention_mask"),
        ({"x": IDS, "attention_mask": torch.ones(1, 9)}, None),
        ({"input_ids": IDS, "lengths": torch.tensor([9]), "labels": IDS}, None),
        ({"inputs": torch.randn(1, 9, 2), "labels": IDS}, None),
        ({"a": torch.arange(3), "b": torch.arange(4)}, None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_names_decide_whether_a_file_holds_rows(batch: dict[str, Any], field: str | None) -> None:
    found = rows_in(read_file("batch.pt", saved(batch)))
    assert found is None if field is None else found is not None and field in found[0]


def test_a_tensor_that_is_no_part_of_a_row_is_named() -> None:
    found = rows_in(read_file("batch.pt", saved({**RIGHT, "token_type_ids": IDS})))
    assert found is not None
    assert found[1] == "Not examined: token_type_ids."


def test_each_row_of_a_batch_is_examined() -> None:
    (found,) = (one for one in pv.examine_rows(**ROWS) if one.severity != "note")
    assert (found.key, found.where) == ("labels_cross", "row 1, document B")
    assert "labels = all_labels[1 : 2]" in found.repair


def test_what_several_rows_have_is_reported_once() -> None:
    twice = {name: part[1:].expand(2, -1) for name, part in ROWS.items()}
    (found,) = pv.examine_rows(**twice).wrong
    assert (found.key, found.times) == ("labels_cross", 2)


def test_offsets_of_a_batch_count_through_its_rows() -> None:
    assert not pv.examine_rows(torch.zeros(2, 4, dtype=torch.int64), cu_seqlens=[0, 3, 4, 8])
    (found,) = pv.examine_rows(torch.zeros(2, 4, dtype=torch.int64), cu_seqlens=[0, 3, 4])
    assert found.key == "offsets_end"


def test_borders_in_positions_alone_are_noted_beside_other_rows() -> None:
    two = torch.stack([position_ids_of((3, 2)), position_ids_of((2, 3))])
    assert [one.key for one in pv.examine_rows(position_ids=two)] == ["borders_in_one_row"]
    assert not pv.examine_rows(position_ids=two[:1])


def test_a_document_may_stand_in_any_row_of_a_batch() -> None:
    rows = {"input_ids": ROWS["input_ids"], "attention_mask": ROWS["attention_mask"]}
    documents = [[5, 6, 7], [8, 9], [5, 6, 7], [8, 9, 10]]
    assert not pv.examine_rows(**rows, documents=documents)
    assert [one.key for one in pv.examine_rows(**rows, documents=[*documents, [1, 2]])] == ["document_dropped"]


def test_a_block_mask_says_where_the_documents_are() -> None:
    mask = document_mask_of((3, 2), 6)[None, None]
    (found,) = pv.examine_rows(position_ids=[[0, 1, 2, 3, 4, 0]], attention_mask=mask)
    assert found.key == "positions_run_on"
    assert not pv.examine_rows(position_ids=[[0, 1, 2, 0, 1, 0]], attention_mask=mask)


def test_a_saved_batch_of_a_tokenizer_gets_advice_that_fits_it() -> None:
    with pytest.raises(pv.PackvizError, match=r"torch.save\(\{\*\*batch\}"):
        read_file("batch.pt", saved(BatchEncoding(input_ids=IDS)))


@pytest.mark.slow
def test_arrays_of_objects_are_read_in_a_process_of_their_own() -> None:
    rows = objects(np.zeros((3, 2)), np.zeros((5, 2)))
    loaded = read_isolated("rows.npz", npz(rows=rows), seconds=60)
    assert loaded.is_ragged
    assert [len(one) for one in loaded.tensors.values()] == [3, 5]
