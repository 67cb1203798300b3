"""Question: a prediction of a round, with the batch that it is about and the run that judges it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from packviz.batch import Batch
from packviz.config import Config
from packviz.predictions import KINDS, Prediction, Stage
from packviz.record import Trace
from packviz.trace import trace

__all__ = ["Question", "asked_about"]

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
