"""Predictions: what a visitor is asked about the batch on the screen before the movie shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from packviz.predictions.model import Answer, Form, Moment, Prediction, Slip, Stage, Verdict, spelled
from packviz.predictions.pad import pad_count, padded_shape
from packviz.predictions.rows import packed_row, packed_token
from packviz.predictions.run import alive, ended, final_step
from packviz.predictions.sizes import batch_size, batch_sizes
from packviz.predictions.sort import enforced, sorted_indices, sorted_row
from packviz.predictions.unpack import last_column, unpacked_width
from packviz.record import Trace

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

_LESSONS: Mapping[Stage, tuple[Kind, ...]] = {
    "pad": (padded_shape, pad_count),
    "embed": (padded_shape,),
    "sort": (enforced, sorted_row, sorted_indices),
    "pack": (batch_sizes, packed_row, packed_token, batch_size),
    "run": (alive, ended, final_step),
    "unpack": (last_column, unpacked_width),
}

KINDS: Mapping[str, Kind] = {kind.__name__: kind for kinds in _LESSONS.values() for kind in kinds}


def ask(trace: Trace, stage: Stage, number: int = 0) -> Prediction | None:
    """Return the number-th prediction of a stage, counted from 0, or None where there is nothing to ask.

    The kinds of the stage take turns; each comes with another sequence or time step every time, the most telling one
    first, and round again at the end. The same trace and number always give the same prediction.
    """
    if stage == "embed" and trace.padded.embedding is None:
        return None
    kinds = [kind for kind in _LESSONS[stage] if kind(trace, 0) is not None]
    if not kinds:
        return None
    turn, which = divmod(number, len(kinds))
    return kinds[which](trace, turn)
