"""The lesson on what leaks: its movie for every layer, the table of layers, and a rollout of episodes."""

import json
from typing import Any, get_args

import pytest
from streamlit.testing.v1 import AppTest

import packviz as pv
from packviz.inputs.row_config import RowLayer
from packviz.text import two_decimals
from pages import movies, opened, press, texts


def stages(app: AppTest) -> list[str]:
    (given,) = movies(app)
    return [*json.loads(given)["movie"]["stages"]]


def table(app: AppTest) -> Any:
    return next(each.value for each in app.table if "kept apart by" in each.value)


@pytest.mark.parametrize("layer", ["attention", "rnn", "gru", "lstm", "conv"])
def test_every_layer_has_the_stage_leak_and_all_but_attention_run(layer: str) -> None:
    app = opened("what_leaks", {"row_layer": layer, "isolate": False})
    assert stages(app) == (["leak"] if layer == "attention" else ["run", "leak"])


def test_the_table_has_the_difference_of_every_layer() -> None:
    found = table(opened("what_leaks", {"sequences": "1 2 3\n4 5\n6 7 8 9", "example": "own"}))
    layers = [each for each in zip(found["layer"], found["without it"], strict=True) if each[0] in get_args(RowLayer)]
    assert sorted(name for name, _ in layers) == sorted(get_args(RowLayer))
    for name, lost in layers:
        run = pv.trace_rows(pv.Batch.parse("1 2 3\n4 5\n6 7 8 9"), pv.RowConfig(layer=name, isolate=False))
        assert lost == two_decimals(max(float(each.max().double()) for each in run.difference[0]))
    assert all(float(value) <= 2e-6 for value in found["with it"])
    assert float(found["without it"][2]) <= 2e-6  # rotary positions that run on


def test_the_lesson_on_attention_has_the_lines_of_attention() -> None:
    mine, every = (table(opened(page)) for page in ("attention", "what_leaks"))
    assert mine.equals(every[:3])
    assert [*mine["layer"]] == ["attention", "learned positions", "rotary positions"]


def test_heads_that_do_not_divide_leave_attention_out_of_the_table() -> None:
    found = table(opened("what_leaks", {"row_layer": "gru", "row_embedding_dim": 7}))
    assert [*found["layer"]] == ["rnn", "gru", "lstm", "conv"]


def test_something_to_try_takes_the_borders_away() -> None:
    app = press(opened("what_leaks"), "a GRU instead", "let documents mix (isolate off)")
    assert app.query_params["row_layer"] == "gru"
    assert "nothing **reset** the state" in movies(app)[0]
    assert "scaled_dot_product_attention" not in movies(app)[0]  # nor in the program beside the picture


def test_the_ways_to_run_a_rollout_say_what_is_wrong() -> None:
    app = opened("what_leaks", {"sequences": "1 2 3\n4 5\n6 7 8 9", "example": "own"})
    labels = [each.label for each in app.expander if "run" in each.label or "reset" in each.label]
    assert any("One run over the rollout" in label and "wrong for A and B" in label for label in labels)
    assert any(":green" in label and "Split at the starts" in label for label in labels)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("two_packings", "`cu_seqlens` says where each begins: it starts with 0"),
        ("filling_rows", "Rows are short here by default, so that you can see several of them at once."),
    ],
)
def test_the_head_of_a_lesson_says_what_its_question_needs(page: str, said: str) -> None:
    assert said in " ".join(each.value for each in opened(page, {}).markdown)


def test_the_first_lesson_on_rows_says_when_they_are_needed() -> None:
    app = opened("two_packings", {})
    assert "Rows save work if many texts are short. Otherwise, pad and pass a mask." in texts(app)
    links = [each.proto for each in app.get("page_link")]
    assert [each.page for each in links if each.label == "Do I need it?"] == ["do_i_need_it"]
