"""Predictions: questions about the batch on the screen, asked before the movie shows the answer."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from packviz.compute.record import Refusal, Trace, check_traced
from packviz.rules.preconditions import check_kind
from packviz.show.movie import STAGES, Movie
from packviz.show.movie.marks import Stage
from packviz.teach.predictions import layout, running
from packviz.teach.predictions.kind import Facts, Kind
from packviz.teach.predictions.prediction import Answer, Form, Moment, Prediction, Slip, Verdict, spelled
from packviz.validate import choice, integer

__all__ = ["KINDS", "Answer", "Form", "Kind", "Moment", "Prediction", "Slip", "Stage", "Verdict"]
__all__ += ["ask", "asking", "spelled"]

MAX_ASKED = 6  # questions stored in a movie

_LESSONS: Mapping[str, tuple[Kind, ...]] = {
    "pad": (layout.pad_count, layout.padded_shape),
    "embed": (layout.padded_shape,),
    "sort": (layout.enforced, layout.sorted_row, layout.sorted_indices, layout.promised),
    "pack": (layout.batch_sizes, layout.packed_row, layout.packed_token, layout.batch_size),
    "run": (running.alive, running.ended, running.final_step),
    "unpack": (running.last_column, running.unpacked_width),
}
_BACKWARD = (running.joins_backward, running.final_backward, running.fed_backward)  # instead of those of the run

KINDS: Mapping[str, Kind] = {kind.key: kind for kinds in (*_LESSONS.values(), _BACKWARD) for kind in kinds}


def ask(trace: Trace | Refusal, stage: Stage, number: int = 0, *, direction: int = 0) -> Prediction | None:
    """Return the number-th prediction of a stage, counted from 0, or None if there is nothing to ask.

    direction: the direction that the movie of the stage run shows, 1 is backward; other stages do not depend on it.

    The kinds of the stage take turns, each time with another sequence or time step, the most instructive first, and
    then start over. The same arguments always give the same prediction. Raises PackvizError for an unknown
    stage, a number that is not an integer of at least 0, and a direction that this trace does not have.
    """
    check_traced(trace)
    choice("stage", stage, STAGES)
    integer("number", number, 0, fix="count the questions from 0")
    both = trace.module.bidirectional or isinstance(trace, Refusal)
    only = "" if both else ", forward, the only direction of this module"
    choice("direction", direction, (0, 1) if both else (0,), where=only)
    return _question(Facts(trace), stage, number, direction)


def asking(movie: Movie, stage: Stage) -> Movie:
    """Return the movie with the first predictions of a stage, which the player asks before it shows the answer.

    The answers and the reasons for all recognised mistakes are included, so that it needs no server. A stage with
    nothing to ask, or that the movie does not show, leaves it as it is. Raises PackvizError for an unknown stage.
    """
    check_kind("movie", movie, Movie, "make one with packviz.movie")
    choice("stage", stage, movie.about.stages)
    if stage not in _LESSONS or all(step.stage != stage for step in movie.steps):
        return movie
    facts = Facts(movie.run)
    predictions = dict.fromkeys(_question(facts, stage, number, movie.about.direction) for number in range(MAX_ASKED))
    return replace(movie, questions=tuple(_with_solution(each, movie) for each in predictions if each is not None))


def _with_solution(prediction: Prediction, movie: Movie) -> Mapping[str, Any]:
    slips = [[spelled(slip.answer), slip.reason] for slip in prediction.slips]
    moment = prediction.moment
    step = movie.step_at(moment.stage, moment.timestep, moment.name)
    solution = {"answer": prediction.solution, "why": prediction.why, "slips": slips}
    solution |= {"otherwise": prediction.otherwise, "miscounted": prediction.miscounted}
    return {
        "prompt": prediction.prompt,
        "form": prediction.form,
        "example": prediction.example,
        "choices": list(prediction.choices),
        "parts": prediction.parts,
        "first": step if moment.since is None else movie.step_at(moment.stage, moment.since),
        "step": step,
        "sealed": b64encode(json.dumps(solution, ensure_ascii=False).encode()).decode(),
    }


def _question(facts: Facts, stage: Stage, number: int, direction: int) -> Prediction | None:
    if stage == "embed" and not facts.embedded:
        return None
    candidates = _BACKWARD if stage == "run" and direction else _LESSONS.get(stage, ())
    kinds = [kind for kind in candidates if kind.places(facts)]
    if not kinds:
        return None
    turn, which = divmod(number, len(kinds))
    return kinds[which].question(facts, turn)
