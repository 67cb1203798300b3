"""Snapshot: what one token may see of a room. Whatever must not be seen yet is not in it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from classroom.question import Question
from classroom.state import Asked, State

MAX_BARS = 6  # different answers; the others are counted together
_EXPLAIN, _GO_ON = 0.35, 0.70  # shares of right answers: see hint()


def snapshot(state: State, question: Question | None, token: str, *, host: bool) -> dict[str, Any]:
    """Return what a phone with this token may see, or the teacher. question: the current one."""
    phone, current = state.phones.get(token), state.current
    mine = state.votes.get(token)
    seen: dict[str, Any] = {
        "code": state.code,
        "revision": state.revision,
        "phase": state.phase,
        "round": state.round,
        "question": None if question is None else {"number": len(state.asked), **question.public},
        "voted": len(state.votes),
        "joined": len(state.phones),
        "step": state.step or None,
    }
    seen |= {"mine": mine.answer if mine else None, "following": phone is None or phone.following}
    if phone is not None:
        seen["name"] = phone.name
    if current is not None and question is not None and (host or state.phase == "reveal"):
        seen |= _answer(state, current, question)
        if mine is not None and phone is not None:
            seen |= {"right": mine.right, "reason": question.reason(mine.read)}
    if host:
        seen |= {
            "host": True,
            "place": state.place,
            "hint": hint(state),
            "questions": [dict(spec) for spec in state.questions],
            "index": current.index if current else None,
            "left": len(state.questions) - state.upcoming,
            "asked": [dict(each.spec) for each in state.asked],
            "following_count": sum(each.following for each in state.phones.values()),
        }
    return seen


def hint(state: State) -> dict[str, Any] | None:
    """Return the share of right answers in the round that has been closed, and what research advises; None before.

    Under 35 % right: explain again; up to 70 %: let them talk and vote again; above: go on (Vickrey et al. 2015).
    """
    votes = state.votes
    if state.phase not in ("closed", "talk") or not votes:
        return None
    share = sum(vote.right for vote in votes.values()) / len(votes)
    advice, told = "go on", "Most are right: show the answer and go on."
    if share < _EXPLAIN:
        advice, told = "explain", "Few are right: explain it again, then ask for a second vote."
    elif share <= _GO_ON and state.round == 2:
        advice, told = "explain", "Answers are still mixed after the second vote: show the right one and explain it."
    elif share <= _GO_ON:
        advice, told = "talk", "Let them talk with their neighbors and vote again."
    return {"share": round(share, 3), "advice": advice, "told": told}


def bars(asked: Asked, question: Question) -> list[dict[str, Any]]:
    """Return for each answer how often it was given before and after the talk, and why it is right or wrong.

    The options of a choice come in their order; of other answers the right one and then the most frequent ones. Where
    there are more than MAX_BARS, the last one, without an answer, counts the others.
    """
    counts = [Counter(vote.read for vote in votes.values()) for votes in (*asked.counted, {})]
    both = counts[0] + counts[1]
    if question.options:
        shown, others = question.options, list[str]()
    else:
        ranked = [answer for answer, _ in both.most_common() if answer != question.solution]
        shown, others = (question.solution, *ranked[: MAX_BARS - 1]), ranked[MAX_BARS - 1 :]
    groups: list[tuple[str | None, list[str]]] = [(answer, [answer]) for answer in shown]
    return [
        {
            "answer": answer,
            "right": answer == question.solution,
            "before": sum(counts[0][each] for each in group),
            "after": sum(counts[1][each] for each in group),
            "reason": "" if answer is None else question.reason(answer),
        }
        for answer, group in groups + ([(None, others)] if others else [])
    ]


def _answer(state: State, asked: Asked, question: Question) -> dict[str, Any]:
    """Return what nobody but the teacher may see before the answer is shown."""
    path = f"api/rooms/{state.code}/movie?question={len(state.asked)}"
    return {
        "answer": question.answer,
        "solution": question.solution,
        "why": question.why,
        "reasons": [{"answer": answer, "reason": reason} for answer, reason in question.reasons.items()],
        "bars": bars(asked, question),
        "rounds": len(asked.counted),
        "movie": None if question.kind == "own" else {"path": path, "steps": state.steps or None},
    }
