"""A round: its questions, each with its batch and the run that judges it, on every machine the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from packviz.compute.record import Trace
from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.teach.predictions import KINDS, Prediction, Stage
from packviz.teach.quiz.levels import LEVELS
from packviz.validate import integer

__all__ = ["LAST_ROUND", "MAX_QUESTIONS", "Question", "asked_about", "questions"]

LEAST_SLIPS = 2
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class Question:
    """Hold one question of a round.

    text        the batch, one sequence a line
    trace       torch's run of the batch with these settings, by which the answer is judged
    prediction  the question itself, its answer, and the reasons for typical wrong ones
    """

    text: str
    batch: Batch
    config: Config
    trace: Trace
    prediction: Prediction

    @property
    def stage(self) -> Stage:
        """Return the stage whose movie shows why."""
        return self.prediction.moment.stage

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Return the stages of that movie: one, but the embedding is shown together with the padding before it."""
        return ("pad", "embed") if self.stage == "embed" else (self.stage,)

    @property
    def direction(self) -> int:
        """Return the direction that the movie watches: 1, backward, where it is asked about."""
        return int(self.prediction.key.endswith("_backward"))

    @property
    def settings(self) -> tuple[str, ...]:
        """Return the settings as code: the cell, enforce_sorted, and whatever differs from a Config of its own."""
        config, usual = self.config, Config()
        names = ("num_layers", "bidirectional", "batch_first", "padding_side", "total_length")
        others = [
            f"{name}={getattr(config, name)!r}" for name in names if getattr(config, name) != getattr(usual, name)
        ]
        table = self.trace.padded.embedding
        embedded = [] if table is None else [f"embedding_dim={table.size(1)}"]
        return f"nn.{config.cell.upper()}", f"enforce_sorted={config.enforce_sorted}", *embedded, *others


def asked_about(text: str, config: Config, kind: str, number: int) -> Question | None:
    """Return the number-th question of a kind about a batch.

    None where this batch leaves nothing to ask, where it cannot tell two typical mistakes from the right answer, and
    where the answer itself stands in the question.
    """
    batch = Batch.parse(text)
    seen = trace(batch, config)
    prediction = KINDS[kind](seen, number)
    if prediction is None or len(prediction.slips) < LEAST_SLIPS:
        return None
    question = Question(text, batch, config, seen, prediction)
    return None if _given_away(question) else question


def _given_away(question: Question) -> bool:
    """Tell whether the answer can be read off the question, as numbers or letters side by side."""
    prediction = question.prediction
    if prediction.form == "choice" or not prediction.answer:
        return False
    prompt = prediction.prompt.replace("counted from 0", "")
    shown = f" {' '.join(_WORD.findall(f'{prompt} {question.settings}'))} "
    return f" {prediction.solution} " in shown


LAST_ROUND = 9999
MAX_QUESTIONS = 20

_FIRST_ONES = (0, 1, 2, 3)  # of a kind's questions about one batch; the most telling comes first


def questions(level: int, seed: int, count: int = 10) -> tuple[Question, ...]:
    """Return the questions of a round.

    level: 1 to 3, a key of LEVELS. seed: the number of the round, from 1 to LAST_ROUND. count: from 1 to
    MAX_QUESTIONS; fewer are the beginning of more. No kind comes twice before each kind of the level has come once,
    and none more than twice. Raises PackvizError for other numbers.
    """
    integer("level", level, 1, len(LEVELS))
    integer("seed", seed, 1, LAST_ROUND)
    integer("count", count, 1, MAX_QUESTIONS)
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
