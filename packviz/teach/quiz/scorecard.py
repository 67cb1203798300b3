"""Scorecard: what was answered in a round so far and the points for it, and its progress as a short URL-safe code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from packviz.errors import PackvizError
from packviz.teach.predictions import Verdict
from packviz.teach.quiz.rounds import Question
from packviz.text import Brief, counted

__all__ = ["Mark", "Scorecard", "progress_code", "read_progress_code"]

Mark = Literal["open", "first", "second", "missed"]  # right at the first or the second try; missed: neither

POINTS: dict[Mark, int] = {"open": 0, "first": 2, "second": 1, "missed": 0}
TRIES = 2

_MARKS: dict[str, Mark] = {str(POINTS[mark]): mark for mark in ("first", "second", "missed")}
_CODE = re.compile(r"([012]*)([w-]?)", re.ASCII)  # w: one wrong answer to the question after them; -: none yet


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard(Brief):
    """Hold the answers to the questions of a round; each answer makes a new scorecard."""

    questions: tuple[Question, ...]
    # for each question that was answered, what was typed, at most two answers
    answers: dict[int, tuple[str, ...]] = field(default_factory=dict)
    shown: frozenset[int] = frozenset()  # the questions whose solution was asked for
    # the marks of the first questions in a scorecard read from a code; what was typed for them is unknown
    restored: tuple[Mark, ...] = ()
    half: int = -1  # the question that had one wrong answer then, and has one more try; -1 for none

    def answered(self, i: int, typed: str) -> Scorecard:
        """Return the scorecard with one more answer to question i.

        A repeated answer, and an answer to a question that is settled, change nothing. Raises PackvizError for what
        cannot be read, and for a wrong count of numbers or letters unless that is a typical mistake: neither counts as
        a try.
        """
        prediction, before = self.questions[i].prediction, self.tries(i)
        given = prediction.read(typed)
        if prediction.form == "numbers" or prediction.single:
            got, asked = (counted(len(each), prediction.form.removesuffix("s")) for each in (given, prediction.answer))
            if got != asked and given not in {slip.answer for slip in prediction.slips}:
                raise PackvizError("answer", expected=asked, got=got, fix=f"type {asked}; this did not count as a try")
        if self.settled(i) or _plain(typed) in map(_plain, before):
            return self
        return replace(self, answers={**self.answers, i: (*before, typed)})

    def given_up(self, i: int) -> Scorecard:
        """Return the scorecard with the solution of question i shown, which ends it."""
        return self if self.settled(i) else replace(self, shown=self.shown | {i})

    def tries(self, i: int) -> Sequence[str]:
        """Return what was typed for question i."""
        return self.answers.get(i, ())

    def verdict(self, i: int) -> Verdict | None:
        """Return the verdict on the last answer to question i; None before the first."""
        tries = self.tries(i)
        return self.questions[i].prediction.check(tries[-1]) if tries else None

    def mark(self, i: int) -> Mark:
        """Return how question i stands."""
        if i < len(self.restored):
            return self.restored[i]
        verdict, tries = self.verdict(i), len(self.tries(i)) + (i == self.half)
        if verdict is not None and verdict.right:
            return "first" if tries == 1 else "second"
        return "missed" if tries == TRIES or i in self.shown else "open"

    def settled(self, i: int) -> bool:
        """Return whether question i takes no more answers."""
        return self.mark(i) != "open"

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Return how each question stands."""
        return tuple(map(self.mark, range(len(self.questions))))

    @property
    def points(self) -> int:
        """Return the points so far: 2 for each right at the first try, 1 at the second."""
        return sum(POINTS[mark] for mark in self.marks)

    @property
    def most(self) -> int:
        """Return the points for a round without a mistake."""
        return POINTS["first"] * len(self.questions)

    @property
    def untouched(self) -> bool:
        """Return whether nothing was answered and no solution was asked for."""
        return not (self.answers or self.shown or self.restored) and self.half < 0

    @property
    def over(self) -> bool:
        """Return whether every question is settled."""
        return "open" not in self.marks


def _plain(typed: str) -> str:
    return " ".join(typed.lower().replace(",", " ").split())


def progress_code(scorecard: Scorecard, at: int) -> str:
    """Return the points of the questions that are settled from the first one on, and whether the next one is reached.

    at: the question on the screen; behind the last one for the result. "" before the first answer.

    >>> from packviz.teach.quiz import Scorecard, questions
    >>> progress_code(Scorecard(questions(1, 77)).given_up(0), at=1)
    '0-'
    """
    settled = next((i for i, mark in enumerate(scorecard.marks) if mark == "open"), len(scorecard.marks))
    digits = "".join(str(POINTS[mark]) for mark in scorecard.marks[:settled])
    if scorecard.half == settled or scorecard.tries(settled):
        return f"{digits}w"
    return f"{digits}-" if digits and at >= settled else digits


def read_progress_code(questions: tuple[Question, ...], code: str) -> tuple[Scorecard, int] | None:
    """Return the scorecard of a code, without what was typed, and the question on the screen; None for no code."""
    match = _CODE.fullmatch(code) if len(code) <= len(questions) + 1 else None
    if match is None or len(match[1]) + (match[2] == "w") > len(questions):
        return None
    digits, reached = len(match[1]), bool(match[2])
    scorecard = Scorecard(
        questions, restored=tuple(_MARKS[digit] for digit in match[1]), half=digits if match[2] == "w" else -1
    )
    return scorecard, digits if reached or not digits else digits - 1
