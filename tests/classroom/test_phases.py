"""The way of a question through a class: what each action of the teacher does in each phase and round."""

from itertools import product
from typing import Any, get_args

import pytest

from classroom import events
from classroom.events import Done
from classroom.phases import MOVES, Phase
from classroom.state import RefusedError, State

OWN = {"prompt": "Which?", "options": ["this", "that"], "answer": 1}
DETAILS: dict[Done, dict[str, Any]] = {
    "ask": {"question": OWN, "index": None},
    "twin": {"question": OWN},
    "put": {"index": None, "item": {"slide": "The end"}},
    "go": {"to": 0},
    "reveal": {"step": 1, "steps": 3},
    "step": {"step": 2},
    "show": {"wonder": None},
    "channels": {"channels": []},
}

# The flow: lobby → vote 1 → closed → talk → vote 2 → closed → reveal. Talk may be skipped, and the answer may be shown
# after any vote; both close an open one. Whatever is not here is refused.
FLOW: dict[str, dict[Done, str]] = {
    "lobby 1": {"open": "vote 1"},
    "vote 1": {"close": "closed 1", "talk": "talk 1", "reveal": "reveal 1", "back": "lobby 1"},
    "closed 1": {"talk": "talk 1", "reopen": "vote 2", "reveal": "reveal 1", "back": "vote 1"},
    "talk 1": {"reopen": "vote 2", "reveal": "reveal 1", "back": "closed 1"},
    "vote 2": {"close": "closed 2", "reveal": "reveal 2", "back": "talk 1"},
    "vote 2 at once": {"close": "closed 2", "reveal": "reveal 2", "back": "closed 1"},
    "closed 2": {"reveal": "reveal 2", "back": "vote 2"},
    "reveal 1": {"step": "reveal 1"},
    "reveal 2": {"step": "reveal 2"},
}
WAYS: dict[str, tuple[Done, ...]] = {
    "lobby 1": ("ask",),
    "vote 1": ("ask", "open"),
    "closed 1": ("ask", "open", "close"),
    "talk 1": ("ask", "open", "talk"),
    "vote 2": ("ask", "open", "close", "talk", "reopen"),
    "vote 2 at once": ("ask", "open", "close", "reopen"),
    "closed 2": ("ask", "open", "close", "talk", "reopen", "close"),
    "reveal 1": ("ask", "open", "reveal"),
    "reveal 2": ("ask", "open", "close", "talk", "reopen", "reveal"),
}
OFFERED: dict[str, tuple[str, ...]] = {  # to a class in which nobody has voted
    "lobby 1": ("open",),
    "vote 1": ("close",),
    "closed 1": ("talk", "reveal"),
    "talk 1": ("reopen", "reveal"),
    "vote 2": ("close",),
    "closed 2": ("reveal",),
    "reveal 1": ("next",),
    "reveal 2": ("next",),
}
OTHERS: tuple[Done, ...] = ("ask", "twin", "put", "go", "delete", "show", "channels")  # which the phase does not decide
LEADING = [action for action in get_args(Done) if action not in OTHERS]


def do(state: State, action: Done) -> None:
    for event in events.act(state, action, **DETAILS.get(action, {})):
        state.apply(event)


def room(*actions: Done) -> State:
    """Return a room after these actions of its teacher."""
    state = State("CODE")
    state.apply(events.opened([], plan=False)[0])
    for action in actions:
        do(state, action)
    return state


def place(state: State) -> str:
    return f"{state.phase} {state.round}"


def test_the_flow_names_every_phase_and_round() -> None:
    assert {(phase, number) for phase, number in MOVES} == {(each.split()[0], int(each.split()[1])) for each in FLOW}
    assert {phase for phase, _ in MOVES} == {*get_args(Phase)}


@pytest.mark.parametrize(("there", "action"), [*product(FLOW, LEADING)])
def test_an_action_leads_where_the_flow_says_or_is_refused(there: str, action: Done) -> None:
    state = room(*WAYS[there])
    assert place(state) == there.removesuffix(" at once")
    expected = FLOW[there].get(action)
    if expected is not None:
        do(state, action)
        assert place(state) == expected
    else:
        with pytest.raises(RefusedError) as refused:
            do(state, action)
        assert refused.value.status == 409
    assert events.can_undo(room(*WAYS[there])) == ("back" in FLOW[there])


@pytest.mark.parametrize(("there", "action"), [*product(FLOW, OTHERS)])
def test_only_an_open_vote_keeps_the_teacher_from_something_else(there: str, action: Done) -> None:
    state = room(*WAYS[there])
    if state.phase == "vote" and action in ("ask", "twin", "put", "go"):
        with pytest.raises(RefusedError, match="The vote is open"):
            do(state, action)
    else:
        do(state, action)


@pytest.mark.parametrize("there", FLOW)
def test_what_is_offered_is_possible_and_the_usual_comes_first(there: str) -> None:
    offered = events.offered(room(*WAYS[there]))
    assert offered == OFFERED[there.removesuffix(" at once")]
    assert {*offered} - {"next"} <= {*FLOW[there]}


def test_a_vote_in_a_copy_is_not_in_the_original() -> None:
    state = room("ask", "ask")
    copied = state.copy()
    copied.apply({"type": "went", "at": 1.0, "to": 0})
    vote = {"token": "a phone", "round": 1, "answer": 1, "read": "that", "right": True}
    copied.apply({"type": "voted", "at": 2.0, **vote})
    assert [*copied.shown[0].votes[0]] == ["a phone"]
    assert state.shown[0].votes == ({}, {})


@pytest.mark.parametrize("action", LEADING)
def test_nothing_leads_on_before_the_first_question(action: Done) -> None:
    with pytest.raises(RefusedError, match="No question has been asked yet"):
        do(room(), action)


@pytest.mark.parametrize("action", [action for action in LEADING if action != "step"])
def test_nothing_leads_on_from_a_slide(action: Done) -> None:
    with pytest.raises(RefusedError, match="There is no question on the screen"):
        do(room("put"), action)
    assert events.offered(room("put")) == ("next",)
