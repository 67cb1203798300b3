"""Films: the movie that shows the answer to a question, or a step of a plan. Everything here computes with torch."""

from __future__ import annotations

import gzip
import json
from typing import Any

from classroom.question import Film
from classroom.specs import Spec, batch_and_config
from packviz.compute.record import Refusal, Trace
from packviz.compute.row_record import RowsTrace
from packviz.compute.runs import RUN_KINDS
from packviz.show.movie import Movie, beside, movie
from packviz.show.movie.kinds import kind_of, stages_of
from packviz.teach.predictions import Prediction


def film_of_answer(made: Any, asked: Prediction, settings: Spec) -> Film:
    """Return the movie of a question's answer, from the run and the settings that it is about."""
    stage = asked.moment.stage
    if isinstance(made, RowsTrace):
        shown = _rows(made, stage, settings)
    else:
        settings = {} if stage == "backward" else settings  # on the way back, final states in the forward direction
        backward = asked.key.endswith("_backward") or settings.get("direction") == "backward"
        embeds = made.padded.embedding is not None
        shown = movie(
            made,
            ("pad", "embed") if stage in ("pad", "embed") and embeds else (stage,),
            layer=settings.get("layer") if isinstance(made, Trace) else None,
            direction=int(backward and made.module.bidirectional),
            deep=True,
        )
    return _zipped(shown, shown.step_at(stage, asked.moment.timestep, asked.moment.name))


def film_of_step(about: Spec) -> Film:
    """Return the movie that a step of a plan is in, at that step or else at its last one."""
    run = RUN_KINDS[about.get("kind", "packing")]
    batch, config = batch_and_config(about, run)
    made, stage = run.record(batch, config), about.get("stage")
    shown = (_rows if isinstance(made, RowsTrace) else _packing)(made, stage, about.get("settings", {}))
    return _zipped(shown, min(about.get("number", 1), len(shown.steps)))


def _rows(made: RowsTrace, stage: str | None, settings: Spec) -> Movie:
    """Return the movie of one stage, or of all; of a stage that the run does not have, its last one."""
    there = [*stages_of(kind_of(made), made)]
    layer, head = settings.get("watched_layer"), settings.get("watched_head", 0)
    stages = None if stage is None else (stage if stage in there else there[-1],)
    return movie(made, stages, layer=layer, head=head, deep=stage is not None)


def _packing(made: Any, stage: str | None, settings: Spec) -> Movie:
    layer = settings.get("layer") if isinstance(made, Trace) else None
    direction = int(settings.get("direction") == "backward")
    if stage == "beside" and isinstance(made, Trace):
        return beside(made, layer=layer, direction=direction)
    if isinstance(made, Refusal) and stage not in (None, "pad"):
        return movie(made, ("sort",), deep=True)  # it shows how torch refuses
    stages = None if stage is None else ("pad", "embed") if stage == "embed" else (stage,)
    if made.padded.embedding is None and stages:
        stages = ("pad",) if "embed" in stages else stages
    return movie(made, stages, layer=layer, direction=direction, deep=stage is not None)


def _zipped(shown: Movie, step: int) -> Film:
    data = json.dumps(shown.to_dict(), allow_nan=False, separators=(",", ":")).encode()
    return Film(gzip.compress(data, 6, mtime=0), len(shown.steps), step)
