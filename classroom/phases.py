"""Phases: the way of a question through a class, as one table, and what can be read from it.

A question begins in the lobby, is voted on once or twice, and ends with its answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

Phase = Literal["lobby", "vote", "closed", "talk", "reveal"]
Round = Literal[1, 2]
Point = tuple[Phase, Round]
Move = Literal["open", "close", "talk", "reopen", "reveal"]
Advice = Literal["explain", "talk", "go on"]

START: Point = ("lobby", 1)
MOVES: Mapping[Point, Mapping[Move, Point]] = {  # where the teacher's actions lead, the usual one first
    ("lobby", 1): {"open": ("vote", 1)},
    ("vote", 1): {"close": ("closed", 1), "talk": ("talk", 1), "reveal": ("reveal", 1)},
    ("closed", 1): {"talk": ("talk", 1), "reveal": ("reveal", 1), "reopen": ("vote", 2)},
    ("talk", 1): {"reopen": ("vote", 2), "reveal": ("reveal", 1)},
    ("vote", 2): {"close": ("closed", 2), "reveal": ("reveal", 2)},
    ("closed", 2): {"reveal": ("reveal", 2)},
    ("reveal", 1): {},
    ("reveal", 2): {},
}
EVENTS: Mapping[Move, str] = {  # which event an action causes
    "open": "opened",
    "close": "closed",
    "talk": "talked",
    "reopen": "opened",
    "reveal": "revealed",
}
VOTING: tuple[Phase, ...] = ("vote", "closed", "talk")  # in which votes are counted, but not shown to the class yet

_SKIPS: Mapping[Point, Sequence[Move]] = {  # moves that skip a phase are offered only where they are advised
    ("vote", 1): ("talk", "reveal"),
    ("closed", 1): ("reopen",),
    ("vote", 2): ("reveal",),
}
_ADVISED: Mapping[Advice, Move] = {"explain": "reopen", "talk": "talk", "go on": "reveal"}


def after(point: Point, event: str) -> Point:
    """Return where a question is after an event of EVENTS."""
    return {EVENTS[move]: to for move, to in MOVES[point].items()}[event]


def can_undo(way: Sequence[Point]) -> bool:
    """Return whether Undo leads one point back on a way through the phases: not from its start, nor from the answer."""
    return len(way) > 1 and bool(MOVES[way[-1]])


def onward(point: Point, advice: Advice | None) -> tuple[Move, ...]:
    """Return the moves that lead on, first the one that is advised, or usual; none after the answer.

    advice: what research advises after the vote.
    """
    usual = tuple(move for move in MOVES[point] if move not in _SKIPS.get(point, ()))
    if advice is None or (first := _ADVISED[advice]) not in MOVES[point]:
        return usual
    return first, *(move for move in usual if move != first)
