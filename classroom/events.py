"""Events: which of them a request causes in a room, or why it is refused.

The functions `join`, `vote` and `act` look at a state and return events, or refuse the request; they change nothing.
"""

from __future__ import annotations

import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from classroom.names import friendly, secret
from classroom.question import Question
from classroom.state import Event, Phase, Phone, RefusedError, State, hashed
from packviz.text import visible
from packviz.validate import is_integer

Action = Literal["ask", "open", "close", "talk", "reopen", "reveal", "step", "next", "twin", "back", "delete"]
ACTIONS: tuple[Action, ...] = get_args(Action)

MAX_PHONES = 1000
MAX_CHANGES = 50  # of a phone's vote in one round, and of its name
MAX_EVENTS = 100_000  # of phones; the teacher may add as many again
MAX_NAME = 24  # characters

_BACK: Mapping[str, tuple[Phase, int]] = {
    "vote 1": ("lobby", 1),
    "closed 1": ("vote", 1),
    "talk 1": ("closed", 1),
    "vote 2": ("talk", 1),
    "closed 2": ("vote", 2),
}  # what the teacher may undo, by phase and round: nothing has been shown yet
_POSSIBLE: Mapping[str, tuple[Container[str], str]] = {
    "open": ({"lobby 1"}, "The vote on this question has already been opened."),
    "close": ({"vote 1", "vote 2"}, "There is no open vote to close."),
    "talk": ({"vote 1", "closed 1"}, "Talk comes after the first vote."),
    "reopen": ({"closed 1", "talk 1"}, "The second vote comes after the first one is closed."),
    "reveal": (_BACK, "The answer can be shown only once, and only after a vote."),
    "back": (_BACK, "There is nothing to undo here."),
    "step": ({"reveal 1", "reveal 2"}, "There is no movie before the answer is shown."),
}  # in which phases and rounds an action is possible, and what is said in any other


def opened(questions: Sequence[Mapping[str, Any]]) -> tuple[Event, str]:
    """Return the first event of a room and the teacher's secret."""
    host = secret()
    return _event("created", host=hashed(host), questions=list(questions)), host


def join(state: State, token: str | None, name: object = None, following: object = None) -> tuple[list[Event], str]:
    """Return the events of a phone that joins, or comes back and may change its name, and its token."""
    told = None if name is None else _name(state, token, name)
    if following is not None and not isinstance(following, bool):
        raise RefusedError(400, "`following` must be true or false.")
    _check_size(state)
    if token is not None and token in state.phones:
        return _change(state.phones[token], token, told, following), token
    if len(state.phones) >= MAX_PHONES:
        raise RefusedError(409, f"This room is full: {MAX_PHONES} phones have joined.")
    token, phone = secret(), Phone(told or friendly({each.name for each in state.phones.values()}))
    return [_event("joined", token=token, name=phone.name), *_change(phone, token, None, following)], token


def vote(state: State, token: object, number: object, given: int, answer: object, question: Question) -> list[Event]:
    """Return the event of a vote, or none if it repeats the phone's last one.

    number: the round. given: the number of the question that is answered, and that reads and judges the answer.
    """
    if not isinstance(token, str) or token not in state.phones:
        raise RefusedError(403, "This phone has not joined the room. Join it first.")
    if not is_integer(number, 1, 2):
        raise RefusedError(400, "`round` must be 1 or 2.")
    if state.phase != "vote" or state.round != number or len(state.asked) != given:
        raise RefusedError(409, "The vote is closed.")
    before, read = state.votes.get(token), question.read(answer)
    if before is not None and before.read == read:
        return []
    if before is not None and before.changes >= MAX_CHANGES:
        raise RefusedError(429, f"This phone has changed its vote {MAX_CHANGES} times. The last vote counts.")
    _check_size(state)
    return [_event("voted", token=token, round=number, answer=answer, read=read, right=read == question.solution)]


def act(state: State, action: Action, **details: Any) -> list[Event]:
    """Return the events of what the teacher does, or refuse it.

    details: for ask and twin the `question` and its `index`; for reveal and step the `step`, and for reveal `steps`.
    An open vote is closed by talk and reveal, too.
    """
    if refusal := _refusal(state, action):
        raise RefusedError(409, refusal)
    if action in ("ask", "next", "twin"):
        return [_event("asked", question=details["question"], index=details.get("index"))]
    if action in ("open", "reopen"):
        first = [] if state.asked else [_event("asked", question=details["question"], index=details["index"])]
        return [*first, _event("opened", round=1 if action == "open" else 2)]
    if action == "back":
        phase, number = _BACK[f"{state.phase} {state.round}"]
        return [_event("returned", phase=phase, round=number)]
    if action == "step":
        return [] if details["step"] == state.step else [_event("stepped", step=details["step"])]
    shown = {"step": details["step"], "steps": details["steps"]} if action == "reveal" else {}
    kind = {"close": "closed", "talk": "talked", "reveal": "revealed", "delete": "deleted"}[action]
    closes = action in ("talk", "reveal") and state.phase == "vote"
    return [*([_event("closed")] if closes else []), _event(kind, **shown)]


def _refusal(state: State, action: Action) -> str:
    """Return why the teacher cannot do this now, "" where that is possible."""
    if action != "delete" and state.revision >= 2 * MAX_EVENTS:
        return "This room is full. Open another one."
    if action in ("ask", "next", "twin") and state.phase == "vote":
        return "The vote is open. Close it before you ask another question."
    if action not in ("ask", "next", "delete") and not state.asked and not (action == "open" and state.questions):
        return "No question has been asked yet."
    where, otherwise = _POSSIBLE.get(action, ((), ""))
    if otherwise and f"{state.phase} {state.round}" not in where:
        return otherwise
    return "This question has no movie." if action == "step" and not state.steps else ""


def _change(phone: Phone, token: str, name: str | None, following: bool | None) -> list[Event]:
    changed = replace(phone, name=name or phone.name, following=phone.following if following is None else following)
    if changed == phone:
        return []
    if phone.changes >= MAX_CHANGES * 10:
        raise RefusedError(429, "This phone has changed its settings too often.")
    return [_event("changed", token=token, name=changed.name, following=changed.following)]


def _name(state: State, token: str | None, name: object) -> str:
    """Return a name that a phone has chosen, as it is shown."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        raise RefusedError(400, f"A name must have 1 to {MAX_NAME} characters.")
    told = visible(" ".join(name.split()))
    if any(phone.name == told for each, phone in state.phones.items() if each != token):
        raise RefusedError(409, "Somebody in this room already has this name. Choose another one.")
    return told


def _check_size(state: State) -> None:
    if state.revision >= MAX_EVENTS:
        raise RefusedError(409, "This room is full.")


def _event(kind: str, **values: Any) -> Event:
    return {"type": kind, "at": round(time.time(), 3), **values}
