"""The doctor's form for rows: what each rule finds, what is wrong, the conversions, and messages in place."""

from typing import Any

import pytest
import torch
from doctor_cases import saved
from streamlit.testing.v1 import AppTest
from test_doctor import choose, fill, give, shown

import packviz as pv
from packviz.doctor import conversions, read_rows
from pages import opened, texts
from ui.views.given import ROW_EXAMPLES

IDS = torch.tensor([[5, 6, 7, 8, 9, 10]])


def form(text: str) -> AppTest:
    return opened("doctor", {"given": "rows", "rows": text})


@pytest.mark.parametrize("name", ROW_EXAMPLES)
def test_a_link_opens_its_row_with_its_findings(name: str) -> None:
    (text,) = ROW_EXAMPLES[name]
    app = form(text)
    (example,) = [each for each in app.button_group if each.key == "row example"]
    assert example.value == name
    written = read_rows(text)
    found = pv.examine_rows(**written.given)
    assert len(shown(app)) == len(found)
    for told, one in zip(shown(app), found, strict=True):
        assert one.where in told
        assert " ".join(one.found.split()) in " ".join(told.split())


def test_each_rule_says_how_many_documents_it_finds() -> None:
    told = texts(form("position_ids: 0 1 2 0 0 0 1"))
    assert "does not rise by 1: 4 documents of lengths 3, 1, 1, 2" in told
    assert "falls: 2 documents of lengths 3, 4" in told


def test_the_form_ends_with_the_conversions() -> None:
    app = form("position_ids: 0 1 2 0 1 0 0 0")
    assert [each.value for each in app.code][-1] == conversions((3, 2), 8)


@pytest.mark.parametrize(("lengths", "N"), [((3, 2, 1), 6), ((3, 2), 8), ((40, 30), 70), ((40, 30), 80)])
@pytest.mark.parametrize("name", ["position_ids", "seq_idx", "attention_mask", "cu_seqlens", "mask"])
def test_the_conversions_are_code_that_gives_the_same_documents(name: str, lengths: tuple[int, ...], N: int) -> None:
    names: dict[str, Any] = {}
    exec(conversions(lengths, N), names)
    spelled = {"attention_mask" if name == "mask" else name: names[name]}
    assert pv.find_documents(**spelled) == lengths


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 1 2 0 1", "expected a name before the numbers"),
        ("position_ids: a b", "position_ids: expected numbers"),
        ("position_ids: 0 1\nlabels: 1", "expected rows of one shape"),
        ("max_seqlen: 4", "at least one of input_ids"),
        ("position_ids: [[[[0]]]]", "position_ids: expected shape"),
        ("cu_seqlens: nan 1", "cu_seqlens: expected integers"),
        ("cu_seqlens:", "cu_seqlens: expected"),
        ("cu_seqlens: 0 99999999999", "Expected at most 100,000 places"),
        ("", "There is nothing to examine yet"),
    ],
)
def test_text_that_is_no_row_gets_a_message_and_stays(text: str, told: str) -> None:
    app = opened("doctor", {"given": "rows"})
    fill(app, "rows", text)
    assert told in texts(app)
    assert app.text_area(key="rows").value == text


def test_a_text_in_the_address_is_cut_on_the_server() -> None:
    field = form("9" * 200_000).text_area(key="rows")
    assert len(str(field.value)) == field.proto.max_chars < 200_000


def test_what_was_typed_comes_back_after_an_example_and_the_other_forms() -> None:
    app = opened("doctor", {"given": "rows"})
    fill(app, "rows", "cu_seqlens: 0 2 4")
    for name in ("no mistake", "my own"):
        choose(app, "row example", name)
    for way in ("a file", "a batch", "rows"):
        choose(app, "given", way)
    assert app.text_area(key="rows").value == "cu_seqlens: 0 2 4"


def test_the_rows_of_a_batch_are_shown_one_at_a_time() -> None:
    app = form("position_ids: [[0, 1, 2, 3], [0, 1, 0, 1]]")
    assert "does not rise by 1: 1 document of length 4" in texts(app)
    app.number_input(key="row of the batch").set_value(1).run()
    assert "does not rise by 1: 2 documents of lengths 2, 2" in texts(app)


def test_a_block_mask_is_one_row_of_the_picture() -> None:
    told = texts(form("position_ids: 0 1 0\nattention_mask: [[1, 0, 0], [1, 1, 0], [0, 0, 1]]"))
    assert "mask: 2 documents of lengths 2, 1" in told


@pytest.mark.slow
def test_an_uploaded_batch_of_a_collator_is_examined_as_rows() -> None:
    app = opened("doctor")
    give(
        app, {"batch.pt": saved({"input_ids": IDS, "position_ids": torch.tensor([[0, 1, 2, 0, 1, 0]]), "labels": IDS})}
    )
    assert any("Labels cross the border" in " ".join(each.split()) for each in shown(app))
