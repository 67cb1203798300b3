"""How far somebody is in a round, as a few characters that an address can hold."""

from __future__ import annotations

import re

from packviz.quiz.question import Question
from packviz.quiz.sheet import Mark, Sheet

__all__ = ["kept", "taken_up"]

_DIGITS: dict[Mark, str] = {"first": "2", "second": "1", "missed": "0"}  # the points
_MARKS: dict[str, Mark] = {digit: mark for mark, digit in _DIGITS.items()}
_KEPT = re.compile(r"([012]*)([w-]?)", re.ASCII)  # w: one wrong answer to the question after them; -: none yet


def kept(sheet: Sheet, at: int) -> str:
    """Return the points of the questions that are settled from the first one on, and whether the next one is reached.

    at: the question on the screen; behind the last one for the result. "" before the first answer.

    >>> from packviz.quiz import Sheet, questions
    >>> kept(Sheet(questions(1, 77)).given_up(0), at=1)
    '0-'
    """
    settled = next((i for i, mark in enumerate(sheet.marks) if mark == "open"), len(sheet.marks))
    digits = "".join(_DIGITS[mark] for mark in sheet.marks[:settled])
    if sheet.half == settled or sheet.tries(settled):
        return f"{digits}w"
    return f"{digits}-" if digits and at >= settled else digits


def taken_up(questions: tuple[Question, ...], code: str) -> tuple[Sheet, int] | None:
    """Return the sheet that `kept` made this code of, without what was typed, and the question on the screen.

    None for anything else.
    """
    match = _KEPT.fullmatch(code) if len(code) <= len(questions) + 1 else None
    if match is None or len(match[1]) + (match[2] == "w") > len(questions):
        return None
    digits, reached = len(match[1]), bool(match[2])
    sheet = Sheet(questions, kept=tuple(_MARKS[digit] for digit in match[1]), half=digits if match[2] == "w" else -1)
    return sheet, digits if reached or not digits else digits - 1
