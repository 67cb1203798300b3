"""A lesson asks first: an answer is judged, with a reason of its own, and sends the movie to its step."""

import pytest
from streamlit.testing.v1 import AppTest

from pages import opened, texts
from ui.visit import Visit

RIGHT = {
    "padding": "3 4 1",
    "sorting": "2",
    "packing": "3 3 2 1",
    "running": "A C",
}  # of the first question, on 1 2 3 / 4 5 / 6 7 8 9


def answer(app: AppTest, typed: str) -> str:
    """Answer the question, and return what the page says afterwards."""
    (box,) = [each for each in (*app.text_input, *app.selectbox) if each.form_id]
    box.set_value(typed)
    return pressed(app, "Check")


def pressed(app: AppTest, label: str) -> str:
    (button,) = [each for each in app.button if each.label == label]
    button.click().run()
    return texts(app)


def asked_step(app: AppTest) -> int | None:
    """Return the step that the player has been asked for."""
    visited: Visit = app.session_state["visit"]
    return visited.ask.step


@pytest.mark.parametrize("lesson", RIGHT)
def test_a_right_answer_is_confirmed_and_shown(lesson: str) -> None:
    app = opened(lesson)
    assert "✓ Right." in answer(app, RIGHT[lesson])
    assert (asked_step(app) or 0) > 1


@pytest.mark.parametrize(
    ("typed", "reason"),
    [("3 2 4", "These are the lengths"), ("4 3 2", "These are the sorted lengths"), ("1 2 3 3", "last time step")],
)
def test_a_mistake_gets_its_own_reason(typed: str, reason: str) -> None:
    app = opened("packing")
    said = answer(app, typed)
    assert "✗ Not quite." in said
    assert reason in said
    assert said.count("Try once more.") == 1


def test_the_second_wrong_answer_shows_why_and_the_first_one_only_if_asked() -> None:
    app = opened("packing")
    answer(app, "3 2 4")
    assert asked_step(app) is None
    assert "Try once more." not in answer(app, "4 3 2")
    assert (asked_step(app) or 0) > 1
    other = opened("packing")
    answer(other, "3 2 4")
    pressed(other, "Show me")
    assert asked_step(other) == asked_step(app)


def test_a_lesson_whose_question_was_answered_has_a_tick_in_the_menu() -> None:
    app = opened("packing")
    answer(app, "3 2 4")
    visited: Visit = app.session_state["visit"]
    assert visited.done == frozenset()
    answer(app, "3 3 2 1")
    assert visited.done == {"pack"}


@pytest.mark.parametrize(("typed", "told"), [("three, three <b>two</b>", "⚠ Expected"), (" ", "Answer first.")])
def test_what_is_no_answer_is_not_judged(typed: str, told: str) -> None:
    app = opened("packing")
    said = answer(app, typed)
    assert told in said
    assert "✗" not in said
    assert asked_step(app) is None


def test_another_batch_is_another_question() -> None:
    app = opened("packing")
    answer(app, "3 3 2 1")
    app.text_area(key="sequences").set_value("1 2 3 4\n5 6\n7").run()
    assert "Right." not in texts(app)
    assert "✓ Right." in answer(app, "3 2 1 1")


def test_a_choice_is_judged_too() -> None:
    app = opened("unpacking")
    (box,) = [each for each in app.selectbox if each.form_id]
    for part, verdict in (("its state after", "✗ Not quite."), ("filler", "✓ Right.")):
        assert verdict in answer(app, next(option for option in box.options if part in option))


def test_a_thing_to_try_changes_the_batch_and_the_link() -> None:
    app = opened("padding")
    pressed(app, "padding_value 42")
    assert float(app.query_params["padding_value"]) == 42
    assert asked_step(app) == 1
    pressed(app, "on the left")
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


def test_ones_own_text_comes_back_after_a_thing_to_try() -> None:
    app = opened("packing")
    app.text_area(key="sequences").set_value("7 7 7 7\n8").run()
    for name in ("one long sequence", "all equal"):
        pressed(app, name)
        assert app.text_area(key="sequences").value != "7 7 7 7\n8"
    pressed(app, "my own text again")
    assert app.text_area(key="sequences").value == "7 7 7 7\n8"
    assert "my own text again" not in [each.label for each in app.button]


def test_lengths_can_be_typed_and_bad_ones_are_named() -> None:
    app = opened("cost")
    (data,) = [each for each in app.selectbox if each.label == "Lengths of a data set"]
    data.set_value("typed").run()
    box = next(each for each in app.text_area if each.label == "Lengths")
    box.set_value("3 4 many").run()
    (problem,) = [each.value for each in app.text if "⚠" in each.value]
    assert "many" in problem
    next(each for each in app.text_area if each.label == "Lengths").set_value("1 2 3 100").run()
    assert "4 lengths:" in texts(app)
