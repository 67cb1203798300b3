"""Scorecard: the answers in a round so far, their points, and the progress as a short URL-safe code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from packviz.errors import PackvizError
from packviz.teach.predictions import Verdict
from packviz.teach.quiz.rounds import QuizQuestion
from packviz.text import Brief, counted

__all__ = ["Mark", "Scorecard", "progress_code", "read_progress_code"]

Mark = Literal["open", "first", "second", "missed"]  # right on the first or the second try; missed: neither

_MARKS: Mapping[str, Mark] = {"2": "first", "1": "second", "0": "missed"}  # by the points
_CODE = re.compile("[012]*[w-]?")


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard(Brief):
    """The answers to the questions of a round; each answer makes a new scorecard."""

    questions: tuple[QuizQuestion, ...]
    # by question, its points, "2", "1" or "0", or "w" after one wrong answer; a missing question has had no answer
    standing: Mapping[int, str] = field(default_factory=dict)
    # by question, what was typed, at most two answers; empty for those restored from a code
    answers: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    shown: frozenset[int] = frozenset()  # the questions whose solution was requested

    def answered(self, i: int, typed: str) -> Scorecard:
        """Return the scorecard with one more answer to question i.

        A repeated answer, or an answer to a settled question, changes nothing. Raises PackvizError for an unreadable
        answer, and for numbers that do not count as a try because there are too few or too many.
        """
        prediction, before = self.questions[i].prediction, self.tries(i)
        given = prediction.read(typed)
        if not prediction.counts(given):
            expected = counted(len(prediction.answer), "number")
            fix = f"type {expected}: this did not cost you a try"
            raise PackvizError("answer", expected=expected, got=str(len(given)), fix=fix)
        if self.settled(i) or not prediction.counts(given, [prediction.read(each) for each in before]):
            return self
        right, wrong = ("1", "0") if i in self.standing else ("2", "w")
        standing = {**self.standing, i: right if prediction.judge(given).right else wrong}
        return replace(self, standing=standing, answers={**self.answers, i: (*before, typed)})

    def given_up(self, i: int) -> Scorecard:
        """Return the scorecard with the solution of question i shown, which ends it."""
        if self.settled(i):
            return self
        return replace(self, standing={**self.standing, i: "0"}, shown=self.shown | {i})

    def tries(self, i: int) -> Sequence[str]:
        """Return what was typed for question i."""
        return self.answers.get(i, ())

    def verdict(self, i: int) -> Verdict | None:
        """Return the verdict on the last answer to question i; None before the first."""
        tries = self.tries(i)
        return self.questions[i].prediction.check(tries[-1]) if tries else None

    def mark(self, i: int) -> Mark:
        """Return the mark of question i."""
        return _MARKS.get(self.standing.get(i, ""), "open")

    def settled(self, i: int) -> bool:
        """Return whether question i takes no more answers."""
        return self.mark(i) != "open"

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Return the mark of each question."""
        return tuple(map(self.mark, range(len(self.questions))))

    @property
    def points(self) -> int:
        """Return the points so far: 2 for each right on the first try, 1 on the second."""
        return sum(int(points) for points in self.standing.values() if points != "w")

    @property
    def most(self) -> int:
        """Return the points for a round without a mistake."""
        return 2 * len(self.questions)

    @property
    def untouched(self) -> bool:
        """Return whether nothing was answered and no solution was requested."""
        return not self.standing

    @property
    def over(self) -> bool:
        """Return whether every question is settled."""
        return "open" not in self.marks


def progress_code(scorecard: Scorecard, at: int) -> str:
    """Return the points of the settled questions from the first one on, and the visitor's position after them.

    A "w" follows if the next question has had one wrong answer, a "-" if it is on the screen without one.
    at: the question on the screen; after the last one for the result. "" before the first answer.

    >>> from packviz.teach.quiz import Scorecard, questions
    >>> progress_code(Scorecard(questions(1, 77)).given_up(0), at=1)
    '0-'
    """
    standing = "".join(scorecard.standing.get(i, " ") for i in range(len(scorecard.questions)))
    digits = standing[: len(standing) - len(standing.lstrip("012"))]
    if standing[len(digits) :].startswith("w"):
        return f"{digits}w"
    return f"{digits}-" if digits and at >= len(digits) else digits


def read_progress_code(questions: tuple[QuizQuestion, ...], code: str) -> tuple[Scorecard, int] | None:
    """Return the scorecard of a code, without the typed answers, and the question on the screen; None if invalid."""
    standing = code.removesuffix("-")
    if not _CODE.fullmatch(code) or len(standing) > len(questions):
        return None
    settled = len(standing.rstrip("w"))
    return Scorecard(questions, dict(enumerate(standing))), settled if code[settled:] or not settled else settled - 1
