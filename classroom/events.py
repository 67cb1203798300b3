"""Events: which of them a request causes in a room, or why it is refused.

The functions `join`, `vote` and `act` look at a state and return events, or refuse the request; they change nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from classroom import phases
from classroom.names import friendly, secret
from classroom.phases import EVENTS, Advice, Move
from classroom.question import Question
from classroom.specs import is_poll
from classroom.state import Confidence, Event, Pace, Phone, RefusedError, State, hashed
from packviz.text import visible
from packviz.validate import is_integer

Action = Literal["ask", Move, "step", "next", "twin", "back", "delete", "item", "show", "channels"]
Done = Literal["ask", Move, "step", "twin", "back", "delete", "show", "channels", "put", "go"]  # by actions.prepared

NOT_NOW: Mapping[Move, str] = {  # why a move is not possible in a phase that phases.MOVES does not lead from
    "open": "The vote on this question has already been opened.",
    "close": "There is no open vote to close.",
    "talk": "Talk comes after the first vote.",
    "reopen": "The second vote comes after the first one is closed.",
    "reveal": "The answer can be shown only once, and only after a vote.",
}
MAX_PHONES = 1000
MAX_CHANGES = 50  # of a phone's vote in one round; ten times as many of its settings
MAX_EVENTS = 100_000  # of phones; the teacher may add as many again
MAX_NAME = 24  # characters
MAX_WONDER, MAX_WONDERS = 300, 20  # characters of a question to the teacher, and how many from one phone
EXPLAIN, GO_ON = 0.35, 0.70  # shares of right answers: see advice()


def opened(items: Sequence[Mapping[str, Any]], *, plan: bool) -> tuple[Event, str]:
    """Return the first event of a room and the teacher's secret."""
    host = secret()
    return _event("created", host=hashed(host), **{"items" if plan else "questions": list(items)}), host


def known(action: object) -> Action:
    """Return an action that was sent; raises RefusedError for anything else."""
    actions: tuple[Action, ...] = get_args(Action)
    if action not in actions:
        raise RefusedError(400, f"`action` must be one of {', '.join(actions)}.")
    return action


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
    right = None if question.poll else question.is_right(read)
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
    if refusal := _refusal(state, action, asks="question" in details):
        raise RefusedError(409, refusal)
    match action:
        case "ask" | "twin":
            return [_event("asked", question=details["question"], index=details.get("index"))]
        case "put":
            own = {"item": details["item"]} if details["index"] is None else {}
            step, steps = details.get("step", 0), details.get("steps", 0)
            return [_event("put", index=details["index"], step=step, steps=steps, **own)]
        case "go":
            return [] if details["to"] == state.at else [_event("went", to=details["to"])]
        case "open" | "reopen":
            first = [] if state.now else [_event("asked", question=details["question"], index=details["index"])]
            return [*first, _event(EVENTS[action])]
        case "close" | "talk" | "reveal":
            closed = [_event("closed")] if action != "close" and state.phase == "vote" else []
            return [*closed, _event(EVENTS[action], **details)]
        case "back":
            return [_event("returned")]
        case "step":
            return [] if details["step"] == state.now.step else [_event("stepped", step=details["step"])]  # type: ignore[union-attr]
        case "show":
            return [_event("lifted", wonder=details["wonder"])]
        case "channels":
            return [_event("allowed", channels=details["channels"])]
        case "delete":
            return [_event("deleted")]


def share_of_right(state: State) -> float | None:
    """Return the share of right answers in the current round; None without votes, and in a poll."""
    judged = [vote.right for vote in state.votes.values()]
    return None if not judged or None in judged else sum(map(bool, judged)) / len(judged)


def advice(state: State) -> Advice | None:
    """Return what research advises once a vote is closed; None without votes, and in a poll.

    Under 35% right: explain again; up to 70%: let them talk; then vote again. Above: go on (Vickrey et al. 2015).
    After the second vote the answer is shown: up to 70% right, with an explanation.
    """
    share = share_of_right(state)
    if share is None or state.phase not in ("closed", "talk"):
        return None
    if share > GO_ON:
        return "go on"
    return "explain" if share < EXPLAIN or state.round == 2 else "talk"


def offered(state: State) -> tuple[Move | Literal["next"], ...]:
    """Return the actions that lead on from what is on the screen, first the one that is advised, or usual.

    In a poll there is nothing to talk about: what was answered comes at once.
    """
    if state.now is not None and state.current is None:
        return ("next",)
    poll = state.current is not None and is_poll(state.current.spec)
    return phases.onward(state.way[-1], "go on" if poll and state.phase == "closed" else advice(state)) or ("next",)


def can_undo(state: State) -> bool:
    """Return whether `back` undoes the last action, and does not lead to what was shown before."""
    return phases.can_undo(state.way)


def _refusal(state: State, action: Done, *, asks: bool) -> str:
    """Return why the teacher cannot do this now, "" if it is possible. asks: whether a question comes with it."""
    if action != "delete" and state.revision >= 2 * MAX_EVENTS:
        return "This room is full. Open another one."
    if action in ("ask", "twin", "put", "go") and state.phase == "vote":
        return "The vote is open. Close it before you ask another question."
    match action:
        case "ask" | "put" | "go" | "delete" | "show" | "channels":
            return ""
        case _ if state.now is None and not asks:
            return "No question has been asked yet."
        case "step" if state.phase != "reveal":
            return "There is no movie before the answer is shown."
        case "step":
            return "" if state.now and state.now.steps else "This question has no movie."
        case _ if state.now is not None and state.current is None:
            return "There is no question on the screen."
        case "twin":
            return ""
        case "back":
            return "" if can_undo(state) else "There is nothing to undo here."
    return "" if action in phases.MOVES[state.way[-1]] else NOT_NOW[action]


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
        raise RefusedError(403, "This phone has not joined the room. Join it first.", guess=True)
    return token


def _check_channel(state: State, name: str) -> None:
    if name not in state.channels:
        raise RefusedError(409, "Your teacher has switched this off.")


def _check_size(state: State) -> None:
    if state.revision >= MAX_EVENTS:
        raise RefusedError(409, "This room is full.")


def _event(kind: str, **values: Any) -> Event:
    return {"type": kind, "at": round(time.time(), 3), **values}
