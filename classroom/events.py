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
from classroom.seen import Advice
from classroom.state import Confidence, Event, Pace, Phase, Phone, RefusedError, State, hashed
from packviz.text import visible
from packviz.validate import is_integer

Action = Literal[
    "ask", "open", "close", "talk", "reopen", "reveal", "step",
    "next", "twin", "back", "delete", "item", "show", "channels",
]  # fmt: skip
ACTIONS: tuple[Action, ...] = get_args(Action)
Done = Literal[Action, "put", "go"]  # `actions.prepared` turns next, back and item into these and others

MAX_PHONES = 1000
MAX_CHANGES = 50  # of a phone's vote in one round; ten times as many of its settings
MAX_EVENTS = 100_000  # of phones; the teacher may add as many again
MAX_NAME = 24  # characters
MAX_WONDER, MAX_WONDERS = 300, 20  # characters of a question to the teacher, and how many from one phone
EXPLAIN, GO_ON = 0.35, 0.70  # shares of right answers: see advice()

_BACK: Mapping[str, tuple[Phase, int]] = {
    "vote 1": ("lobby", 1),
    "closed 1": ("vote", 1),
    "talk 1": ("closed", 1),
    "vote 2": ("talk", 1),  # or ("closed", 1), if there was no talk: see _undone()
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


def opened(items: Sequence[Mapping[str, Any]], *, plan: bool) -> tuple[Event, str]:
    """Return the first event of a room and the teacher's secret."""
    host = secret()
    return _event("created", host=hashed(host), **{"items" if plan else "questions": list(items)}), host


def join(state: State, token: str | None, name: object = None, following: object = None) -> tuple[list[Event], str]:
    """Return the events of a phone that joins, or comes back and may change its name, and its token."""
    told = None if name is None else _name(state, token, name)
    if following is not None and not isinstance(following, bool):
        raise RefusedError(400, "`following` must be true or false.")
    if token is not None and token in state.phones:
        changed = _change(state.phones[token], token, told, following)
        if changed:
            _check_size(state)
        return changed, token
    _check_size(state)
    if len(state.phones) >= MAX_PHONES:
        raise RefusedError(409, f"This room is full: {MAX_PHONES} phones have joined.")
    token, phone = secret(), Phone(told or friendly({each.name for each in state.phones.values()}))
    return [_event("joined", token=token, name=phone.name), *_change(phone, token, None, following)], token


def vote(
    state: State, token: object, number: object, given: int, answer: object, question: Question, confidence: object
) -> list[Event]:
    """Return the event of a vote, or none if it repeats the phone's last one.

    number: the round. given: the number of the question that is answered, and that reads and judges the answer.
    """
    token = _phone(state, token)
    if not is_integer(number, 1, 2):
        raise RefusedError(400, "`round` must be 1 or 2.")
    if state.phase != "vote" or state.round != number or state.number != given:
        raise RefusedError(409, "The vote is closed.")
    if confidence not in (None, *get_args(Confidence)):
        raise RefusedError(400, '`confidence` must be "sure" or "guessing", or left out.')
    before, read = state.votes.get(token), question.read(answer)
    if before is not None and (before.read, before.confidence) == (read, confidence):
        return []
    if before is not None and before.changes >= MAX_CHANGES:
        raise RefusedError(429, f"This phone has changed its vote {MAX_CHANGES} times. The last vote counts.")
    _check_size(state)
    right = None if question.is_poll else read == question.solution
    said = {"confidence": confidence} if confidence else {}
    return [_event("voted", token=token, round=number, answer=answer, read=read, right=right, **said)]


def pace(state: State, token: object, said: object) -> list[Event]:
    """Return the event of a phone that finds the lesson too slow or too fast, or is lost, or none if it has said so.

    said: None takes it back.
    """
    token = _phone(state, token)
    if said not in (None, *get_args(Pace)):
        raise RefusedError(400, '`pace` must be "slow", "fast", "lost" or null.')
    _check_channel(state, "pace")
    if said == state.pace(token):
        return []
    _check_size(state)
    _check_changes(state.phones[token])
    return [_event("paced", token=token, pace=said)]


def wonder(state: State, token: object, text: object) -> list[Event]:
    """Return the event of a question to the teacher."""
    token = _phone(state, token)
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_WONDER:
        raise RefusedError(400, f"A question must have 1 to {MAX_WONDER} characters.")
    _check_channel(state, "wonder")
    _check_size(state)
    if sum(each == token for each, _ in state.wonders) >= MAX_WONDERS:
        raise RefusedError(429, f"This phone has sent {MAX_WONDERS} questions, which is the most.")
    return [_event("wondered", token=token, text=visible(" ".join(text.split())))]


def act(state: State, action: Done, **details: Any) -> list[Event]:
    """Return the events of what the teacher does, or refuse it.

    details: for ask and twin the `question` and its `index`; for put the `index` of a slide or a step, or None and the
    `item` itself; for go the place `to` go to; for reveal, step and put the `step`, and for reveal and put `steps`; for
    show the `wonder`; for channels the list of them. An open vote is closed by talk and reveal, too.
    """
    if refusal := _refusal(state, action):
        raise RefusedError(409, refusal)
    match action:
        case "ask" | "next" | "twin":
            return [_event("asked", question=details["question"], index=details.get("index"))]
        case "put":
            own = {"item": details["item"]} if details["index"] is None else {}
            step, steps = details.get("step", 0), details.get("steps", 0)
            return [_event("put", index=details["index"], step=step, steps=steps, **own)]
        case "go":
            return [] if details["to"] == state.at else [_event("went", to=details["to"])]
        case "open" | "reopen":
            first = [] if state.now else [_event("asked", question=details["question"], index=details["index"])]
            return [*first, _event("opened", round=1 if action == "open" else 2)]
        case "back":
            phase, number = _undone(state)
            return [_event("returned", phase=phase, round=number)]
        case "step":
            return [] if details["step"] == state.now.step else [_event("stepped", step=details["step"])]  # type: ignore[union-attr]
        case "show":
            return [_event("lifted", wonder=details["wonder"])]
        case "channels":
            return [_event("allowed", channels=details["channels"])]
    shown = {"step": details["step"], "steps": details["steps"]} if action == "reveal" else {}
    kind = {"close": "closed", "talk": "talked", "reveal": "revealed", "delete": "deleted"}[action]
    closes = action in ("talk", "reveal") and state.phase == "vote"
    return [*([_event("closed")] if closes else []), _event(kind, **shown)]


def share_of_right(state: State) -> float | None:
    """Return the share of right answers in the current round; None without votes, and in a poll."""
    judged = [vote.right for vote in state.votes.values()]
    return None if not judged or None in judged else sum(map(bool, judged)) / len(judged)


def advice(state: State) -> Advice | None:
    """Return what research advises after a vote; None without votes, and in a poll.

    Under 35 % right: explain again; up to 70 %: let them talk; then vote again. Above: go on (Vickrey et al. 2015).
    After the second vote the answer is shown: up to 70 % right, with an explanation.
    """
    share = share_of_right(state)
    if share is None:
        return None
    if share > GO_ON:
        return "go on"
    return "explain" if share < EXPLAIN or state.round == 2 else "talk"


def offered(state: State) -> tuple[Action, ...]:
    """Return the actions that lead on from what is on the screen, first the one that is advised, or usual.

    In a poll there is nothing to talk about: what was answered comes at once.
    """
    advised = advice(state)
    poll = state.current is not None and "prompt" in state.current.spec and "answer" not in state.current.spec
    match state.phase, state.round:
        case "lobby", _:
            return ("open",) if state.current is not None or not state.now else ("next",)
        case "vote", _:
            return ("close",)
        case "closed", 1:
            if poll or advised == "go on":
                return ("reveal", "talk")
            return ("reopen", "talk", "reveal") if advised == "explain" else ("talk", "reveal")
        case "talk", _:
            return ("reveal", "reopen") if advised == "go on" else ("reopen", "reveal")
        case "closed", _:
            return ("reveal",)
    return ("next",)


def can_undo(state: State) -> bool:
    """Return whether `back` undoes the last action, and does not lead to what was shown before."""
    return state.current is not None and f"{state.phase} {state.round}" in _BACK


def _undone(state: State) -> tuple[Phase, int]:
    """Return the phase and the round before the last action."""
    if (state.phase, state.round) == ("vote", 2) and state.now is not None and not state.now.talked:
        return "closed", 1
    return _BACK[f"{state.phase} {state.round}"]


def _refusal(state: State, action: Done) -> str:
    """Return why the teacher cannot do this now, "" if it is possible."""
    if action != "delete" and state.revision >= 2 * MAX_EVENTS:
        return "This room is full. Open another one."
    if action in ("ask", "next", "twin", "put", "go") and state.phase == "vote":
        return "The vote is open. Close it before you ask another question."
    if action in ("ask", "next", "put", "go", "delete", "show", "channels"):
        return ""
    if state.now is None and (action != "open" or not state.items or state.plan):
        return "No question has been asked yet."
    if state.now is not None and state.current is None and action != "step":
        return "There is no question on the screen."
    where, otherwise = _POSSIBLE.get(action, ((), ""))
    if otherwise and f"{state.phase} {state.round}" not in where:
        return otherwise
    return "This question has no movie." if action == "step" and not (state.now and state.now.steps) else ""


def _change(phone: Phone, token: str, name: str | None, following: bool | None) -> list[Event]:
    changed = replace(phone, name=name or phone.name, following=phone.following if following is None else following)
    if changed == phone:
        return []
    _check_changes(phone)
    return [_event("changed", token=token, name=changed.name, following=changed.following)]


def _check_changes(phone: Phone) -> None:
    if phone.changes >= MAX_CHANGES * 10:
        raise RefusedError(429, "This phone has changed its settings too often.")


def _name(state: State, token: str | None, name: object) -> str:
    """Return a name that a phone has chosen, as it is shown."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        raise RefusedError(400, f"A name must have 1 to {MAX_NAME} characters.")
    told = visible(" ".join(name.split()))
    if any(phone.name == told for each, phone in state.phones.items() if each != token):
        raise RefusedError(409, "Somebody in this room already has this name. Choose another one.")
    return told


def _phone(state: State, token: object) -> str:
    if not isinstance(token, str) or token not in state.phones:
        raise RefusedError(403, "This phone has not joined the room. Join it first.")
    return token


def _check_channel(state: State, name: str) -> None:
    if name not in state.channels:
        raise RefusedError(409, "Your teacher has switched this off.")


def _check_size(state: State) -> None:
    if state.revision >= MAX_EVENTS:
        raise RefusedError(409, "This room is full.")


def _event(kind: str, **values: Any) -> Event:
    return {"type": kind, "at": round(time.time(), 3), **values}
