"""State: what the events of a room add up to.

An event is a dict of plain values with its `type` and the time `at` (seconds since 1970). `State.apply` adds one event
to a state, so two processes that read the same list have the same state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal

Event = dict[str, Any]
Phase = Literal["lobby", "vote", "closed", "talk", "reveal"]


class RefusedError(Exception):
    """A request is refused, with an HTTP status and the sentence that the client shows."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


_NOT_URGENT = ("created", "joined", "changed", "voted")  # events of which phones hear with a delay


@dataclass(frozen=True)
class Phone:
    """One phone in a room. changes: how often its name or `following` was changed."""

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
    right: bool
    seconds: float
    changes: int = 0


@dataclass(frozen=True)
class Asked:
    """One question that was asked in a room, and the votes of its two rounds by token.

    index: its place in the room's list of questions; None where it is not from the list. revealed: whether its answer
    has been shown.
    """

    spec: Mapping[str, Any]
    index: int | None = None
    votes: tuple[dict[str, Vote], dict[str, Vote]] = field(default_factory=lambda: ({}, {}))
    revealed: bool = False
    round: int = 1

    @property
    def counted(self) -> Sequence[Mapping[str, Vote]]:
        """Return the votes of the rounds that count: those of a second round count once it has not been undone."""
        return self.votes[: self.round]


@dataclass
class State:
    """What the events of a room add up to.

    revision    the number of events
    host        SHA-256 of the teacher's secret, hexadecimal
    phones      by token
    asked       every question so far; the last one is the current one
    step        of the reveal's movie, counted from 1, and how many there are; 0 before the reveal
    opened_at   when the current round was opened
    """

    code: str
    revision: int = 0
    host: str = ""
    questions: tuple[Mapping[str, Any], ...] = ()
    phones: dict[str, Phone] = field(default_factory=dict)
    asked: tuple[Asked, ...] = ()
    phase: Phase = "lobby"
    round: int = 1
    step: int = 0
    steps: int = 0
    opened_at: float = 0.0
    last_at: float = 0.0
    urgent: int = 0  # the revision of the last event of which phones hear at once
    deleted: bool = False

    @property
    def current(self) -> Asked | None:
        """Return the question that is being asked."""
        return self.asked[-1] if self.asked else None

    @property
    def votes(self) -> Mapping[str, Vote]:
        """Return the votes of the current round."""
        return self.asked[-1].votes[self.round - 1] if self.asked else {}

    @property
    def upcoming(self) -> int:
        """Return the place in the list of the question after the last one that was asked from it."""
        return next((asked.index + 1 for asked in reversed(self.asked) if asked.index is not None), 0)

    @property
    def place(self) -> list[Any]:
        """Return where the lesson is: the number of its question, the phase and the round."""
        return [len(self.asked), self.phase, self.round]

    def is_host(self, given: object) -> bool:
        """Return whether this is the teacher's secret."""
        return isinstance(given, str) and hashed(given) == self.host

    def copy(self) -> State:
        """Return a state to which events can be applied without changing this one."""
        *before, last = self.asked or (None,)
        asked = (*before, replace(last, votes=(dict(last.votes[0]), dict(last.votes[1])))) if last else ()
        return replace(self, phones=dict(self.phones), asked=asked)

    def apply(self, event: Event) -> None:
        """Add one event."""
        self.revision += 1
        self.last_at = event["at"]
        if event["type"] not in _NOT_URGENT:
            self.urgent = self.revision
        match event["type"]:
            case "created":
                self.host, self.questions = event["host"], tuple(event["questions"])
            case "joined":
                self.phones[event["token"]] = Phone(event["name"])
            case "changed":
                before = self.phones[event["token"]]
                self.phones[event["token"]] = Phone(event["name"], event["following"], before.changes + 1)
            case "asked":
                self.asked = (*self.asked, Asked(event["question"], event["index"]))
                self.phase, self.round, self.step, self.steps = "lobby", 1, 0, 0
            case "opened":
                self.phase, self.opened_at = "vote", event["at"]
                self._to_round(event["round"])
            case "voted":
                votes, token = self.asked[-1].votes[event["round"] - 1], event["token"]
                changes = votes[token].changes + 1 if token in votes else 0
                seconds = event["at"] - self.opened_at
                votes[token] = Vote(event["answer"], event["read"], event["right"], seconds, changes)
            case "closed":
                self.phase = "closed"
            case "talked":
                self.phase = "talk"
            case "returned":
                self.phase = event["phase"]
                self._to_round(event["round"])
            case "revealed":
                self.asked = (*self.asked[:-1], replace(self.asked[-1], revealed=True))
                self.phase, self.step, self.steps = "reveal", event["step"], event["steps"]
            case "stepped":
                self.step = event["step"]
            case "deleted":
                self.deleted = True
            case kind:
                raise ValueError(f"This version of packviz does not know the event {kind}.")

    def _to_round(self, number: int) -> None:
        self.round = number
        self.asked = (*self.asked[:-1], replace(self.asked[-1], round=number))


def hashed(given: str) -> str:
    """Return what is stored of a secret: its SHA-256, hexadecimal."""
    return sha256(given.encode(errors="replace")).hexdigest()
