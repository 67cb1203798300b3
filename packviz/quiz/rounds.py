"""A round: the questions that a level and a number stand for, on every machine the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from packviz.errors import PackvizError
from packviz.quiz.levels import LEVELS
from packviz.quiz.question import Question, asked_about
from packviz.visible import shown

__all__ = ["LAST_ROUND", "MOST_QUESTIONS", "questions"]

LAST_ROUND = 9999
MOST_QUESTIONS = 20

_FIRST_ONES = (0, 1, 2, 3)  # of a kind's questions about one batch; the most telling comes first


def questions(level: int, seed: int, count: int = 10) -> tuple[Question, ...]:
    """Return the questions of a round.

    level: 1 to 3, a key of LEVELS. seed: the number of the round, from 1 to LAST_ROUND. count: from 1 to
    MOST_QUESTIONS; fewer are the beginning of more. No kind comes twice before each kind of the level has come once,
    and none more than twice. Raises PackvizError for other numbers.
    """
    _check("level", level, len(LEVELS))
    _check("seed", seed, LAST_ROUND)
    _check("count", count, MOST_QUESTIONS)
    draw = Random(f"packviz {level} {seed}")  # seeded by the text's own SHA-512: no machine differs
    asked: list[Question] = []
    for kind in _kinds(draw, LEVELS[level].kinds)[:count]:
        asked.append(next(new for new in _drawn(draw, level, kind) if not _is_among(new, asked)))
    return tuple(asked)


def _kinds(draw: Random, kinds: Sequence[str]) -> list[str]:
    return [*draw.sample(kinds, len(kinds)), *draw.sample(kinds, len(kinds))]


def _drawn(draw: Random, level: int, kind: str) -> Iterator[Question]:
    while True:
        text, config = LEVELS[level].draw(draw, kind)
        question = asked_about(text, config, kind, draw.choice(_FIRST_ONES))
        if question is not None:
            yield question


def _is_among(new: Question, asked: Sequence[Question]) -> bool:
    return any((new.text, new.prediction.prompt) == (old.text, old.prediction.prompt) for old in asked)


def _check(name: str, value: object, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        expected = f"a whole number from 1 to {most}"
        raise PackvizError(name, expected=expected, came=shown(value), mend="choose one of these")
