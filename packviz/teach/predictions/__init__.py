"""Predictions: questions about the batch on the screen, asked before the movie shows the answer."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from packviz.compute.record import Refusal, Trace
from packviz.rules.preconditions import check_kind
from packviz.show.movie import Movie
from packviz.show.movie.kinds import movie_kind_of, stages_of
from packviz.show.movie.marks import Stage
from packviz.teach.predictions import layout, of_influence, of_losses, rows, running
from packviz.teach.predictions.facts import PACKING_QUESTIONS
from packviz.teach.predictions.kind import QuestionKind
from packviz.teach.predictions.prediction import Answer, Form, MovieMoment, Prediction, Slip, Verdict, spelled
from packviz.teach.predictions.row_facts import ROW_QUESTIONS
from packviz.validate import choice, integer

__all__ = ["KINDS", "Answer", "Form", "MovieMoment", "Prediction", "QuestionKind", "Slip", "Stage", "Verdict"]
__all__ += ["ask", "asking", "spelled"]

MAX_ASKED = 6  # questions stored in a movie

# What a lesson asks, beside the first step of its movie, where nobody can read the answer. The rows of `data` at a time
# step, how many rows will be filled, and the documents of a row are in that picture, so `alive`, `row_count` and
# `document_count` are asked elsewhere.
_PACKING: Mapping[str, tuple[QuestionKind[Any], ...]] = {
    "pad": (layout.pad_count, layout.padded_shape),
    "embed": (layout.padded_shape,),
    "sort": (layout.enforced, layout.sorted_row, layout.sorted_indices, layout.promised),
    "pack": (layout.batch_sizes, layout.packed_row, layout.packed_token, layout.batch_size),
    "run": (running.ended, running.final_step),
    "unpack": (running.last_column, running.unpacked_width),
    "backward": (running.gradient_enters, running.live_going_back, running.pad_gradient),
}
_ROWS: Mapping[str, tuple[QuestionKind[Any], ...]] = {
    "two": (rows.cu_seqlens, rows.row_token),
    "fill": (rows.row_documents, rows.dropped_from, rows.dropped_tokens),
    "borders": (rows.position_ids,),
    "attention": (rows.keys_read, rows.mask_cells),
    "run": (of_influence.changed_documents, of_influence.conv_hit),
    "losses": (of_losses.heavier, of_losses.last_label),
    "leak": (of_influence.changed_tokens, of_influence.changed_documents, of_influence.conv_hit),
}
_BACKWARD = (running.joins_backward, running.final_backward)  # instead of those of the run
_UNSEEN = (running.alive, running.fed_backward)
_SUBJECTS = ((PACKING_QUESTIONS, _PACKING), (ROW_QUESTIONS, _ROWS))  # with the kinds of question of each stage

KINDS: Mapping[str, QuestionKind[Any]] = {
    kind.key: kind for kinds in (*_PACKING.values(), _BACKWARD, _UNSEEN, rows.ROW_KINDS) for kind in kinds
}


def ask(trace: Any, stage: Stage, number: int = 0, *, direction: int = 0) -> Prediction | None:
    """Return the number-th prediction of a stage, counted from 0, or None if there is nothing to ask.

    trace: what packviz.trace, trace_module or trace_rows returned. direction: the direction that the movie of the stage
    run shows, 1 is backward; other stages do not depend on it.

    The kinds of the stage take turns, each time with another sequence or time step, the most instructive first, and
    then start over. The same arguments always give the same prediction. Raises PackvizError for an unknown
    stage, a number that is not an integer of at least 0, and a direction that this trace does not have.
    """
    choice("stage", stage, _stages(trace))
    integer("number", number, 0, fix="count the questions from 0")
    _check_direction(trace, direction)
    return _question(*_asked(trace, stage, direction), number)


def asking(movie: Movie, stage: Stage) -> Movie:
    """Return the movie with the first predictions of a stage, which the player asks before it shows the answer.

    The answers and the reasons for all recognised mistakes are included, so that it needs no server. A stage with
    nothing to ask, or that the movie does not show, leaves it as it is. Raises PackvizError for an unknown stage.
    """
    check_kind("movie", movie, Movie, "make one with packviz.movie")
    choice("stage", stage, movie.stages)
    if all(step.stage != stage for step in movie.steps):
        return movie
    facts, kinds = _asked(movie.run, stage, movie.about.direction)
    predictions = dict.fromkeys(_question(facts, kinds, number) for number in range(MAX_ASKED))
    return replace(movie, questions=tuple(_with_solution(each, movie) for each in predictions if each is not None))


def _with_solution(prediction: Prediction, movie: Movie) -> Mapping[str, Any]:
    slips = [[spelled(slip.answer), _unbroken(slip.reason)] for slip in prediction.slips]
    moment, last = prediction.moment, len(movie.steps)
    stages = [step.stage for step in movie.steps]
    seen = moment.stage in stages  # else the answer is at the end
    step = movie.step_at(moment.stage, moment.timestep, moment.name) if seen else last
    first = stages.index(moment.stage) + 1 if seen and moment.whole else step
    if seen and moment.since:
        first = movie.step_at(moment.stage, name=moment.since)
    solution = {"answer": prediction.solution, "why": _unbroken(prediction.why), "slips": slips}
    solution |= {"otherwise": _unbroken(prediction.otherwise), "miscounted": _unbroken(prediction.miscounted)}
    return {
        "prompt": prediction.prompt,
        "form": prediction.form,
        "example": prediction.example,
        "choices": list(prediction.choices),
        "parts": prediction.parts,
        "first": first,
        "step": step,
        "sealed": b64encode(json.dumps(solution, ensure_ascii=False).encode()).decode(),
    }


def _unbroken(text: str) -> str:
    """Return a text whose lines do not break between a name and its number, as in "t = 3"."""
    return re.sub(r" = (?=\d)", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}", text)


def _check_direction(run: Any, direction: object) -> None:
    if not isinstance(run, Trace | Refusal):
        choice("direction", direction, (0,), where=": such a run has no direction")
        return
    both = run.module.bidirectional or isinstance(run, Refusal)
    only = "" if both else ", forward, the only direction of this module"
    choice("direction", direction, (0, 1) if both else (0,), where=only)


def _stages(run: Any) -> tuple[Stage, ...]:
    """Return the stages that a run of this kind can have; raises PackvizError if it is not a run."""
    return tuple(stage.name for stage in movie_kind_of(run).stages)


def _question(facts: Any, kinds: Sequence[QuestionKind[Any]], number: int) -> Prediction | None:
    """Return the number-th question of some kinds that take turns; None if none of them can be asked."""
    there = [kind for kind in kinds if kind.asked_at(facts)]
    if not there:
        return None
    turn, which = divmod(number, len(there))
    return there[which].question(facts, turn)


def _asked(run: Any, stage: Stage, direction: int) -> tuple[Any, Sequence[QuestionKind[Any]]]:
    """Return the numbers of a run, and the kinds of question about them in a stage; () if the run has no questions."""
    for subject, kinds in _SUBJECTS:
        if isinstance(run, subject.run.records) and stage in stages_of(movie_kind_of(run), run):
            backward = subject is PACKING_QUESTIONS and stage == "run" and direction
            return subject.facts(run), _BACKWARD if backward else kinds.get(stage, ())
    return None, ()
