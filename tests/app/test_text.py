"""Who replaces the text of the batch: an example, typing, something to try; no text of the visitor's own is lost."""

from collections.abc import Callable, Sequence

import pytest
import streamlit as st

from packviz.inputs.examples import EXAMPLES, example
from ui.state import text, widgets
from ui.state.address import Link
from ui.state.text import CHOICE, FIELD, OWN, Source
from ui.state.visit import visit

FIRST = EXAMPLES[0].key
MINE = "7 8\n9"

State = dict[str, object]


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> State:
    """Return the widgets' values as a visitor finds them: the first example, drawn."""
    state: State = {CHOICE: FIRST, FIELD: example(FIRST).text, "read_as": "auto"}
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(st, "query_params", {})
    text.draw(FIRST)
    return state


def message(state: State, sent: State, called: Sequence[Callable[[], object]]) -> None:
    """Do what Streamlit does with a message of the browser: take its values, call the functions, draw the widgets."""
    state |= sent
    for each in called:
        each()
    text.draw(str(state[CHOICE]))


def test_a_typed_text_is_the_visitors_own(state: State) -> None:
    message(state, {FIELD: MINE}, [text.typed])
    assert text.source() == Source(OWN, MINE, "auto")


def test_a_text_as_the_example_has_it_stays_the_examples(state: State) -> None:
    state[FIELD] = example(FIRST).text
    assert not text.typed()
    assert text.source() == Source()


@pytest.mark.parametrize("called", [(text.typed, text.picked), (text.picked, text.typed)], ids=["typed", "picked"])
@pytest.mark.parametrize("before", [FIRST, OWN])
def test_an_example_picked_in_the_message_of_a_typed_text_counts_in_either_order(
    state: State, before: str, called: Sequence[Callable[[], object]]
) -> None:
    if before == OWN:
        message(state, {FIELD: "1 2"}, [text.typed])
    message(state, {FIELD: MINE, CHOICE: "zen"}, called)
    assert text.source() == Source("zen", example("zen").text, "auto")
    message(state, {CHOICE: OWN}, [text.picked])
    assert text.source() == Source(OWN, MINE, "auto")
    assert text.picks() == 2


def test_an_example_without_a_text_keeps_the_visitors_own(state: State) -> None:
    message(state, {FIELD: MINE}, [text.typed])
    message(state, {CHOICE: "vowels"}, [text.picked])
    assert text.source() == Source("vowels", None, "auto")
    message(state, {CHOICE: OWN}, [text.picked])
    assert text.source().text == MINE


def test_the_visitors_own_text_is_set_aside_for_something_to_try(state: State) -> None:
    message(state, {FIELD: MINE}, [text.typed])
    for tried in ("1\n2", "3\n4"):
        text.put(tried)
        assert text.source() == Source(OWN, tried, "auto")
    assert text.is_set_aside()
    text.take_up()
    assert text.source() == Source(OWN, MINE, "auto")
    assert not text.is_set_aside()


def test_what_the_visitor_makes_of_a_try_is_set_aside_too(state: State) -> None:
    message(state, {FIELD: MINE}, [text.typed])
    text.put("1\n2")
    message(state, {FIELD: "1 2\n2"}, [text.typed])
    text.put("3\n4")
    for own in ("1 2\n2", MINE, "1 2\n2"):  # once more is the other one
        assert text.is_set_aside()
        text.take_up()
        assert text.source().text == own


def test_an_example_is_not_set_aside_for_something_to_try(state: State) -> None:
    text.put("1\n2")
    assert not text.is_set_aside()
    assert state[CHOICE] == OWN


@pytest.mark.parametrize("choice", [OWN, FIRST])
def test_what_a_try_has_replaced_is_restored_with_its_choice(state: State, choice: str) -> None:
    if choice == OWN:
        message(state, {FIELD: MINE}, [text.typed])
    before, there = widgets.now([FIELD, CHOICE, "hidden_size"]), text.source()
    widgets.put({FIELD: "1\n2", "hidden_size": 3})
    assert (text.source().text, state["hidden_size"]) == ("1\n2", 3)
    widgets.restore(before)
    assert (text.source(), widgets.now(before)) == (there, before)
    assert not text.is_set_aside()


@pytest.mark.parametrize("lock", ["all", FIELD])
def test_nothing_replaces_a_text_that_the_link_fixes(state: State, lock: str) -> None:
    visit(Link).asked = {"lock": lock}
    before = dict(state)
    widgets.put({FIELD: MINE})
    widgets.restore({FIELD: MINE, CHOICE: OWN})
    assert state == before


@pytest.mark.parametrize(("asked", "choice"), [({FIELD: MINE}, OWN), ({FIELD: MINE, CHOICE: "zen"}, None), ({}, None)])
def test_a_text_that_comes_with_a_link_alone_is_the_visitors_own(
    state: State, asked: dict[str, str], choice: str | None
) -> None:
    del state[CHOICE]
    visit(Link).asked = asked
    text.arrive()
    assert state.get(CHOICE) == st.query_params.get(CHOICE) == choice
