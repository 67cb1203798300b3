"""State: what the events of a room add up to.

An event is a dict of plain values with its `type` and the time `at` (seconds since 1970). `State.apply` adds one event
to a state, so two processes that read the same list have the same state.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal

from classroom.phases import START, Phase, Point, Round, after

Event = dict[str, Any]
Place = list[int | Phase]  # in the lesson: see State.place
Kind = Literal["question", "slide", "step"]
Confidence = Literal["sure", "guessing"]
Pace = Literal["slow", "fast", "lost"]

PACE_COUNTS = 300.0  # seconds for which what a phone says about the pace counts


class RefusedError(Exception):
    """A request is refused, with an HTTP status and the sentence that the client shows.

    guess: whether it named a room, a phone or a teacher that there is not; who does so often may be guessing.
    """

    def __init__(self, status: int, sentence: str, *, guess: bool = False) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.guess = status, sentence, guess


_NOT_URGENT = ("created", "joined", "changed", "voted", "paced", "wondered")  # events that phones get with a delay


@dataclass(frozen=True)
class Phone:
    """One phone in a room. changes: how often its name, `following` or what it says about the pace was changed."""

    name: str
    following: bool = True
    changes: int = 0


@dataclass(frozen=True)
class Vote:
    """What one phone answered in one round.

    answer: as it was sent. read: the same answer in the form in which equal answers are equal. seconds: since the round
    was opened. changes: how often the phone had voted in this round before.
    """

    answer: Any
    read: str
    right: bool | None  # None in a poll
    seconds: float
    changes: int = 0
    at: float = 0.0
    confidence: Confidence | None = None


@dataclass(frozen=True)
class OnScreen:
    """One item that was shown in a room: a question and the votes of its two rounds by token, a slide, or a step.

    index       its place in the room's list; None for what is not from the list
    after       the place in the list that it belongs to: its own, or that of the item after which it was asked
    way         the phases and rounds that it has been through; an undone one is not in it
    step        of the movie, counted from 1, and how many there are; 0 if none is shown
    opened_at   when the current round was opened
    """

    spec: Mapping[str, Any]
    index: int | None = None
    after: int = -1
    votes: tuple[Mapping[str, Vote], Mapping[str, Vote]] = ({}, {})
    way: tuple[Point, ...] = (START,)
    step: int = 0
    steps: int = 0
    opened_at: float = 0.0

    @property
    def kind(self) -> Kind:
        """Return what it is."""
        return "slide" if "slide" in self.spec else "step" if "step" in self.spec else "question"

    @property
    def counted(self) -> Sequence[Mapping[str, Vote]]:
        """Return the votes of the rounds that count: a second round that was undone does not."""
        return self.votes[: self.way[-1][1]]


@dataclass
class State:
    """What the events of a room add up to.

    revision    the number of events
    host        SHA-256 of the teacher's secret, hexadecimal
    items       the room's list. plan: whether it is a plan, through which `next` and `back` lead step by step
    phones      by token
    shown       every item so far. at: the place in it of what is on the screen; -1 before the first one
    paces       by token, what a phone said last about the pace, and when
    wonders     questions to the teacher. wonder: the place of the one on the projector
    began_at    when the first item was shown; None before
    channels    which of pace, wonder and confidence the phones offer
    """

    code: str
    revision: int = 0
    host: str = ""
    items: tuple[Mapping[str, Any], ...] = ()
    plan: bool = False
    phones: dict[str, Phone] = field(default_factory=dict)
    shown: tuple[OnScreen, ...] = ()
    at: int = -1
    paces: dict[str, tuple[Pace, float]] = field(default_factory=dict)
    wonders: tuple[tuple[str, str], ...] = ()  # token and text
    wonder: int | None = None
    began_at: float | None = None
    channels: frozenset[str] = frozenset(("pace", "wonder", "confidence"))
    last_at: float = 0.0
    urgent: int = 0  # the revision of the last event that phones get at once
    deleted: bool = False

    @property
    def now(self) -> OnScreen | None:
        """Return what is on the screen."""
        return self.shown[self.at] if self.at >= 0 else None

    @property
    def current(self) -> OnScreen | None:
        """Return the question on the screen."""
        return self.now if self.now is not None and self.now.kind == "question" else None

    @property
    def asked(self) -> tuple[OnScreen, ...]:
        """Return every question so far."""
        return tuple(each for each in self.shown if each.kind == "question")

    @property
    def number(self) -> int:
        """Return the number of the question on the screen, counted from 1; 0 if there is none."""
        return sum(each.kind == "question" for each in self.shown[: self.at + 1]) if self.current else 0

    @property
    def way(self) -> tuple[Point, ...]:
        """Return the phases and rounds that what is on the screen has been through."""
        return self.now.way if self.now is not None else (START,)

    @property
    def phase(self) -> Phase:
        """Return the phase of what is on the screen."""
        return self.way[-1][0]

    @property
    def round(self) -> Round:
        """Return the round of the question on the screen."""
        return self.way[-1][1]

    @property
    def votes(self) -> Mapping[str, Vote]:
        """Return the votes of the current round."""
        return self.now.votes[self.round - 1] if self.now is not None else {}

    @property
    def upcoming(self) -> int:
        """Return the place in the list of the item after the last one that was shown from it."""
        if self.plan:
            return self.now.after + 1 if self.now is not None else 0
        return next((each.index + 1 for each in reversed(self.shown) if each.index is not None), 0)

    @property
    def place(self) -> Place:
        """Return where the lesson is: which of the items shown is on the screen, counted from 1, phase and round."""
        return [self.at + 1, self.phase, self.round]

    def beside(self, way: Literal[-1, 1]) -> int | None:
        """Return the place in `shown` of what comes before (-1) or after (1) what is on the screen; None for nothing.

        In a plan this is the order of the list, and what is not from it comes after the item after which it was shown;
        else it is the order in which they were shown.
        """
        if self.now is None:
            return None
        if not self.plan:
            return self.at + way if 0 <= self.at + way < len(self.shown) else None
        keys = [(each.after, each.index is None, i) for i, each in enumerate(self.shown)]
        here = keys[self.at]
        if way < 0:
            return max((key for key in keys if key < here), default=(0, False, None))[2]
        within = (self.now.after + 1, False, len(keys))  # what was shown from the next place of the list on comes later
        return min((key for key in keys if here < key <= within), default=(0, False, None))[2]

    def pace(self, token: str) -> Pace | None:
        """Return what a phone said about the pace, as long as it counts."""
        said, at = self.paces.get(token, (None, 0.0))
        return said if time.time() - at <= PACE_COUNTS else None

    def is_host(self, given: object) -> bool:
        """Return whether this is the teacher's secret."""
        return isinstance(given, str) and hashed(given) == self.host

    def copy(self) -> State:
        """Return a state to which events can be applied without changing this one."""
        return replace(self, phones=dict(self.phones), paces=dict(self.paces))  # nothing else is changed in place

    def apply(self, event: Event) -> None:
        """Add one event."""
        self.revision += 1
        self.last_at = event["at"]
        if event["type"] not in _NOT_URGENT:
            self.urgent = self.revision
        match event["type"]:
            case "created":
                self.host, self.plan = event["host"], "items" in event
                self.items = tuple(event.get("items") or event.get("questions", ()))
            case "joined":
                self.phones[event["token"]] = Phone(event["name"])
            case "changed":
                before = self.phones[event["token"]]
                self.phones[event["token"]] = Phone(event["name"], event["following"], before.changes + 1)
            case "asked" | "put":
                self.began_at = self.began_at or event["at"]
                self._put(event)
            case "went":
                self.at = event["to"]
            case "opened":
                self._move(event, opened_at=event["at"])
            case "voted":
                self._vote(event)
            case "closed" | "talked":
                self._move(event)
            case "revealed":
                self._move(event, step=event["step"], steps=event["steps"])
            case "returned":
                self._change(way=self.way[:-1])
            case "stepped":
                self._change(step=event["step"])
            case "deleted":
                self.deleted = True
            case "paced" | "wondered" | "lifted" | "allowed":
                self._hear(event)
            case kind:
                raise ValueError(f"This version of packviz does not know the event {kind}.")

    def _put(self, event: Event) -> None:
        """Put a question or another item on the screen: one of the list, or one that came with the event."""
        index = event["index"]
        after = index if index is not None else self.now.after if self.now is not None else -1
        step, steps = event.get("step", 0), event.get("steps", 0)
        spec = event.get("question") or event.get("item") or self.items[index]
        item = OnScreen(spec, index, after, step=step, steps=steps)
        if item.kind == "step":
            item = replace(item, way=(("reveal", 1),))
        self.shown, self.at = (*self.shown, item), len(self.shown)

    def _vote(self, event: Event) -> None:
        assert self.now is not None
        rounds, at, token = list(self.now.votes), event["round"] - 1, event["token"]
        votes = rounds[at]
        changes = votes[token].changes + 1 if token in votes else 0
        seconds, confidence = event["at"] - self.now.opened_at, event.get("confidence")
        vote = Vote(event["answer"], event["read"], event["right"], seconds, changes, event["at"], confidence)
        rounds[at] = {**votes, token: vote}
        self._change(votes=tuple(rounds))

    def _hear(self, event: Event) -> None:
        """Add what a phone says to the teacher, or what the teacher does with it."""
        match event["type"]:
            case "paced":
                before = self.phones[event["token"]]
                self.phones[event["token"]] = replace(before, changes=before.changes + 1)
                if event["pace"] is None:
                    self.paces.pop(event["token"], None)
                else:
                    self.paces[event["token"]] = event["pace"], event["at"]
            case "wondered":
                self.wonders = (*self.wonders, (event["token"], event["text"]))
            case "lifted":
                self.wonder = event["wonder"]
            case "allowed":
                self.channels = frozenset(event["channels"])

    def _move(self, event: Event, **values: Any) -> None:
        """Move the question on the screen to where an event leads."""
        self._change(way=(*self.way, after(self.way[-1], event["type"])), **values)

    def _change(self, **values: Any) -> None:
        """Change what is on the screen."""
        assert self.now is not None
        self.shown = (*self.shown[: self.at], replace(self.now, **values), *self.shown[self.at + 1 :])


def hashed(given: str) -> str:
    """Return what is stored of a secret: its SHA-256, hexadecimal."""
    return sha256(given.encode(errors="replace")).hexdigest()
