"""Snapshot: what one token may see of a room. Whatever must not be seen yet is not in it."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from classroom.events import advice, can_undo, offered, share_of_right
from classroom.phases import Advice, Round
from classroom.question import PublicQuestion, Question
from classroom.seen import Bar, Hint, Seen, Sure
from classroom.slide import rendered, without_picture
from classroom.specs import Spec
from classroom.state import OnScreen, Pace, State

MAX_BARS, MAX_TEXTS = 6, 40  # different answers, and texts that are collected; the others are counted together
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_PLAIN = {
    *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "i", "in", "is", "it", "of", "on", "or", "that"),
    *("the", "this", "to", "was", "with"),
}
_HINTS: Mapping[tuple[Advice, Round], str] = {
    ("explain", 1): "Few are right: explain it again, then ask for a second vote.",
    ("talk", 1): "Let them talk with their neighbors and vote again.",
    ("go on", 1): "Most are right: show the answer and go on.",
    ("explain", 2): "Many are still wrong after the second vote: show the right answer and explain it.",
    ("go on", 2): "Most are right: show the answer and go on.",
}


def snapshot(state: State, question: Question | None, token: str, *, host: bool) -> Seen:
    """Return what a phone with this token may see, or the teacher. question: the current one."""
    phone, current = state.phones.get(token), state.current
    mine = state.votes.get(token)
    seen: Seen = {
        "code": state.code,
        "revision": state.revision,
        "phase": state.phase,
        "round": state.round,
        "question": None if question is None else _asked(state, question),
        "voted": len(state.votes),
        "joined": len(state.phones),
        "step": (state.now.step or None) if state.now else None,
        **_item(state),
        "wonder": None if state.wonder is None else state.wonders[state.wonder][1],
        "channels": sorted(state.channels),
    }
    seen |= {"mine": mine.answer if mine else None, "read": mine.read if mine else None}
    seen |= {"following": phone is None or phone.following}
    if phone is not None:
        seen |= {"name": phone.name, "confidence": mine.confidence if mine else None, "pace": state.pace(token)}
    if current is not None and question is not None and (host or state.phase == "reveal"):
        seen |= _answer(state, current, question)
        if mine is not None and phone is not None:
            seen |= {"right": mine.right, "reason": question.reason(mine.read)}
    return seen | (_for_the_teacher(state) if host else {})


def _asked(state: State, question: Question) -> PublicQuestion:
    """Return what everybody may see of a question; the prompt of a teacher's own is also there as HTML."""
    seen: PublicQuestion = {**question.public, "number": state.number}
    if question.kind == "own":
        path = f"api/rooms/{state.code}/picture?shown={state.at + 1}"
        seen |= {"prompt": without_picture(question.prompt, path), "html": rendered(question.prompt, path)}
    return seen


def _item(state: State) -> Seen:
    """Return what is on the screen besides a question: a slide with its HTML, or a movie."""
    now = state.now
    if now is None:
        return {"item": None, "kind": None, "shown": None}
    seen: Seen = {"item": now.index, "kind": now.kind, "shown": state.at + 1}
    if now.kind == "slide":
        path = f"api/rooms/{state.code}/picture?shown={state.at + 1}"
        text = now.spec["slide"]
        seen |= {"slide": without_picture(text, path), "html": rendered(text, path)}
    elif now.kind == "step":
        seen["movie"] = {"path": f"api/rooms/{state.code}/movie?shown={state.at + 1}", "steps": now.steps}
    return seen


def _for_the_teacher(state: State) -> Seen:
    """Return what only the teacher may see: what comes next, the notes, and what students say to the teacher."""
    now, current, upcoming = state.now, state.current, state.upcoming
    items = [_short(item) for item in state.items]
    paces = Counter(map(state.pace, state.paces))
    return {
        "host": True,
        "place": state.place,
        "hint": hint(state),
        "offered": offered(state),
        "undo": can_undo(state),
        "note": now.spec.get("note") if now is not None else None,
        "items": items if state.plan else None,
        "upcoming": items[upcoming] if upcoming < len(items) else None,
        "seconds": None if state.began_at is None else round(time.time() - state.began_at),
        "before": state.beside(-1) is not None,
        "after": state.beside(1) is not None or upcoming < len(items),
        "questions": [] if state.plan else items,
        "done": sorted({each.index for each in state.shown if each.index is not None}),
        "index": now.index if now is not None else None,
        "left": len(items) - upcoming,
        "asked": [_short(each.spec) for each in state.asked],
        "spec": _short(current.spec) if current is not None else None,
        "following_count": sum(each.following for each in state.phones.values()),
        "paces": {said: paces[said] for said in get_args(Pace)},
        "wonders": [{"id": i, "text": text, "shown": i == state.wonder} for i, (_, text) in enumerate(state.wonders)],
    }


def _short(item: Spec) -> dict[str, Any]:
    """Return an item without its picture."""
    texts = {name: without_picture(item[name], "picture") for name in ("slide", "prompt") if name in item}
    return {**item, **texts}


def hint(state: State) -> Hint | None:
    """Return the share of right answers in the round that has been closed, and what is advised; None before."""
    advised = advice(state)
    if advised is None:
        return None
    return {"share": round(share_of_right(state) or 0.0, 3), "advice": advised, "told": _HINTS[advised, state.round]}


def _sure(asked: OnScreen, question: Question, answers: Sequence[str]) -> Sure:
    """Return how many were sure of one of these answers, and how many guessed, in each round; {} if nobody said so."""
    said = [
        [vote.confidence for vote in votes.values() for part in _parts(question, vote.read) if part in answers]
        for votes in asked.counted
    ]
    sure, guessing = [each.count("sure") for each in said], [each.count("guessing") for each in said]
    return {"sure": sure, "guessing": guessing} if any(sure + guessing) else {}


def bars(asked: OnScreen, question: Question) -> list[Bar]:
    """Return for each answer how often it was given before and after the talk, and why it is right or wrong.

    The options of a choice come in their order; of other answers the right one and then the most frequent ones. If
    there are more than MAX_BARS, or more than MAX_TEXTS collected texts, the last one, without an answer, counts the
    others.
    """
    counts = [
        Counter(part for vote in votes.values() for part in _parts(question, vote.read))
        for votes in (*asked.counted, {})
    ]
    both = counts[0] + counts[1]
    if question.options:
        shown, others = question.options, list[str]()
    else:
        ranked = [answer for answer, _ in both.most_common() if not question.is_right(answer)]
        right = () if question.poll else (question.solution,)
        most = (MAX_TEXTS if question.collects else MAX_BARS) - len(right)
        shown, others = (*right, *ranked[:most]), ranked[most:]
    groups: list[tuple[str | None, list[str]]] = [(answer, [answer]) for answer in shown]
    return [
        {
            "answer": answer,
            "right": question.is_right(answer),
            "before": sum(counts[0][each] for each in group),
            "after": sum(counts[1][each] for each in group),
            "reason": "" if answer is None else question.reason(answer),
            **_sure(asked, question, group),
        }
        for answer, group in groups + ([(None, others)] if others else [])
    ]


def _parts(question: Question, read: str) -> set[str]:
    """Return what is counted of an answer: the answer, or each of its words once; plain ones if it has no other."""
    if not question.words:
        return {read}
    words = set(_WORD.findall(read))
    return words - _PLAIN or words


def _answer(state: State, asked: OnScreen, question: Question) -> Seen:
    """Return what nobody but the teacher may see before the answer is shown."""
    path = f"api/rooms/{state.code}/movie?shown={state.at + 1}"
    return {
        "answer": question.answer,
        "solution": question.solution,
        "why": question.why,
        "reasons": [{"answer": answer, "reason": reason} for answer, reason in question.reasons.items()],
        "bars": bars(asked, question),
        "rounds": len(asked.counted),
        "movie": None if question.kind == "own" else {"path": path, "steps": asked.steps or None},
    }
