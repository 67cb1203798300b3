"""Predictions: what a visitor is asked about the batch on the screen before the movie shows it."""

from collections.abc import Mapping

from packviz.compute.record import Trace
from packviz.rules.preconditions import check_kind
from packviz.teach.predictions import layout, running
from packviz.teach.predictions.facts import Facts
from packviz.teach.predictions.kind import Kind
from packviz.teach.predictions.prediction import Answer, Form, Moment, Prediction, Slip, Stage, Verdict, spelled
from packviz.validate import choice, integer

__all__ = ["KINDS", "Answer", "Form", "Kind", "Moment", "Prediction", "Slip", "Stage", "Verdict", "ask", "spelled"]

_LESSONS: Mapping[str, tuple[Kind, ...]] = {
    "pad": (layout.padded_shape, layout.pad_count),
    "embed": (layout.padded_shape,),
    "sort": (layout.enforced, layout.sorted_row, layout.sorted_indices, layout.promised),
    "pack": (layout.batch_sizes, layout.packed_row, layout.packed_token, layout.batch_size),
    "run": (running.alive, running.ended, running.final_step),
    "unpack": (running.last_column, running.unpacked_width),
}
_BACKWARD = (running.joins_backward, running.final_backward, running.fed_backward)  # instead of those of the run

KINDS: Mapping[str, Kind] = {kind.key: kind for kinds in (*_LESSONS.values(), _BACKWARD) for kind in kinds}


def ask(trace: Trace, stage: Stage, number: int = 0, *, direction: int = 0) -> Prediction | None:
    """Return the number-th prediction of a stage, counted from 0, or None where there is nothing to ask.

    direction: the direction that the movie of the stage run watches, 1 is backward; other stages do not depend on it.

    The kinds of the stage take turns; each time with another sequence or time step, the most telling one first, and
    round again at the end. The same arguments always give the same prediction. Raises PackvizError for an unknown
    stage, a negative number or one that is no integer, and a direction that this trace does not have.
    """
    check_kind("trace", trace, Trace, "make one with packviz.trace or packviz.trace_module")
    choice("stage", stage, tuple(_LESSONS))
    integer("number", number, 0, fix="count the questions from 0")
    both = trace.module.bidirectional or trace.error is not None
    only = "" if both else ", forward, the only direction of this module"
    choice("direction", direction, (0, 1) if both else (0,), where=only)
    if stage == "embed" and trace.padded.embedding is None:
        return None
    asked = _BACKWARD if stage == "run" and direction else _LESSONS[stage]
    facts = Facts(trace)
    kinds = [kind for kind in asked if kind.places(facts)]
    if not kinds:
        return None
    turn, which = divmod(number, len(kinds))
    return kinds[which].question(facts, turn)
