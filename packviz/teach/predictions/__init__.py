"""Predictions: what a visitor is asked about the batch on the screen before the movie shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from packviz.compute.record import Trace
from packviz.errors import PackvizError
from packviz.rules import check_kind
from packviz.teach.predictions.backward import fed_backward, final_backward, joins_backward
from packviz.teach.predictions.model import Answer, Form, Moment, Prediction, Slip, Stage, Verdict, spelled
from packviz.teach.predictions.pad import pad_count, padded_shape
from packviz.teach.predictions.rows import packed_row, packed_token
from packviz.teach.predictions.run import alive, ended, final_step
from packviz.teach.predictions.sizes import batch_size, batch_sizes
from packviz.teach.predictions.sort import enforced, promised, sorted_indices, sorted_row
from packviz.teach.predictions.unpack import last_column, unpacked_width
from packviz.text import shown
from packviz.validate import integer, is_integer

__all__ = [
    "KINDS",
    "Answer",
    "Form",
    "Kind",
    "Moment",
    "Prediction",
    "Slip",
    "Stage",
    "Verdict",
    "ask",
    "spelled",
]

Kind = Callable[[Trace, int], Prediction | None]

_LESSONS: Mapping[str, tuple[Kind, ...]] = {
    "pad": (padded_shape, pad_count),
    "embed": (padded_shape,),
    "sort": (enforced, sorted_row, sorted_indices, promised),
    "pack": (batch_sizes, packed_row, packed_token, batch_size),
    "run": (alive, ended, final_step),
    "unpack": (last_column, unpacked_width),
}
_BACKWARD: tuple[Kind, ...] = (joins_backward, final_backward, fed_backward)  # in the place of run's own

KINDS: Mapping[str, Kind] = {kind.__name__: kind for kinds in (*_LESSONS.values(), _BACKWARD) for kind in kinds}


def ask(trace: Trace, stage: Stage, number: int = 0, *, direction: int = 0) -> Prediction | None:
    """Return the number-th prediction of a stage, counted from 0, or None where there is nothing to ask.

    direction: what the movie of the stage run watches, 1 is backward; the other stages have the same questions.

    The kinds of the stage take turns; each comes with another sequence or time step every time, the most telling one
    first, and round again at the end. The same arguments always give the same prediction. Raises PackvizError for a
    stage that is none, a number that is not whole or below 0, and a direction that this trace does not have.
    """
    _check(trace, stage, number, direction)
    if stage == "embed" and trace.padded.embedding is None:
        return None
    asked = _BACKWARD if stage == "run" and direction else _LESSONS[stage]
    kinds = [kind for kind in asked if kind(trace, 0) is not None]
    if not kinds:
        return None
    turn, which = divmod(number, len(kinds))
    return kinds[which](trace, turn)


def _check(trace: object, stage: object, number: object, direction: object) -> None:
    check_kind("trace", trace, Trace, "make one with packviz.trace or packviz.trace_module")
    if not isinstance(stage, str) or stage not in _LESSONS:
        raise PackvizError("stage", expected=f"one of {', '.join(_LESSONS)}", came=shown(stage), mend="choose one")
    integer("number", number, 0, mend="count the questions from 0")
    most = 1 if isinstance(trace, Trace) and (trace.module.bidirectional or trace.error is not None) else 0
    if not is_integer(direction, 0, most):
        raise PackvizError(
            "direction",
            expected="0 or 1" if most else "0, forward, the only direction of this module",
            came=shown(direction),
            mend="watch a direction that is there",
        )
