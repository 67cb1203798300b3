"""A lesson carries its questions to the player, and has things to try and verdicts below it."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages import STAGES, movies, opened, press, texts
from ui.visit import Visit


def questions(app: AppTest) -> list[dict[str, Any]]:
    """Return what the player of a page asks."""
    (given,) = movies(app)
    asked: list[dict[str, Any]] = json.loads(given)["movie"].get("questions", [])
    return asked


def asked_step(app: AppTest) -> int | None:
    """Return the step that the player has been asked for."""
    visited: Visit = app.session_state["visit"]
    return visited.ask.step


@pytest.mark.parametrize("lesson", STAGES)
def test_a_lesson_carries_its_questions_and_another_batch_has_others(lesson: str) -> None:
    app = opened(lesson)
    first = questions(app)
    assert len(first) > 1
    app.text_area(key="sequences").set_value("1 2 3 4\n5 6\n7").run()
    assert questions(app) != first


def test_pages_without_a_lesson_ask_nothing() -> None:
    assert [questions(opened(page)) for page in ("", "compare")] == [[], []]


def test_a_thing_to_try_changes_the_batch_and_the_link() -> None:
    app = opened("padding")
    press(app, "padding_value 42")
    assert float(app.query_params["padding_value"]) == 42
    assert asked_step(app) == 0  # what has changed
    press(app, "on the left")
    assert app.query_params["padding_side"] == "left"


def test_what_was_changed_is_named_and_taken_back_one_by_one_or_all_at_once() -> None:
    app = opened("packing")
    assert not [each.key for each in app.button if (each.key or "").startswith("undo")]
    app = opened("packing", {"hidden_size": 6, "cell": "lstm", "padding_side": "left"})
    labels = {each.label for each in app.button if (each.key or "").startswith("undo ")}
    assert labels == {"hidden_size = 6 ✕", "cell = lstm ✕", "padding_side = left ✕", "Reset all"}
    app.button(key="undo hidden_size").click().run()
    assert "hidden_size" not in app.query_params
    assert app.query_params["cell"] == "lstm"
    app.button(key="undo all").click().run()
    assert not {"cell", "padding_side"} & set(app.query_params)
    assert not [each.key for each in app.button if (each.key or "").startswith("undo")]


def test_ones_own_text_comes_back_after_a_thing_to_try_and_after_an_example() -> None:
    app = opened("packing")
    app.text_area(key="sequences").set_value("7 7 7 7\n8").run()
    app.run()  # AppTest knows only what ran last: two fragments
    for name in ("one long sequence", "all equal"):
        press(app, name)
        assert app.text_area(key="sequences").value != "7 7 7 7\n8"
    press(app, "my own text again")
    assert app.text_area(key="sequences").value == "7 7 7 7\n8"
    assert "my own text again" not in [each.label for each in app.button]
    app.button_group(key="example").set_value("zen").run()
    assert str(app.text_area(key="sequences").value).startswith("Beautiful is better than ugly.")
    app.button_group(key="example").set_value("hundred").run()
    assert not [each for each in app.text_area if each.key == "sequences"]
    assert "100 sequences, 818 tokens, 49\N{NO-BREAK SPACE}% padding" in texts(app)
    app.button_group(key="example").set_value("own").run()
    assert app.text_area(key="sequences").value == "7 7 7 7\n8"


def test_lengths_can_be_typed_and_bad_ones_are_named() -> None:
    app = opened("cost")
    (data,) = [each for each in app.selectbox if each.label == "Lengths of a data set"]
    data.set_value("typed").run()
    next(each for each in app.text_area if each.label == "Lengths").set_value("3 4 many").run()
    (problem,) = [each.value for each in app.text if "⚠" in each.value]
    assert "many" in problem
    next(each for each in app.text_area if each.label == "Lengths").set_value("1 2 3 100").run()
    assert "4 lengths:" in texts(app)
