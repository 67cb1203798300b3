"""Films: the movie that shows the answer to a question, or a step of a plan. Everything here computes with torch."""

from __future__ import annotations

import gzip
from typing import Any

import msgspec

from classroom.question import Film
from classroom.specs import Spec, batch_and_config
from packviz.compute.runs import RUN_KINDS, run_kind_of
from packviz.show.movie import Movie
from packviz.show.movie.possible import possible_movie
from packviz.teach.pages import stages_of_lesson
from packviz.teach.predictions import KINDS, Prediction


def film_of_answer(made: Any, asked: Prediction, settings: Spec) -> Film:
    """Return the movie of a question's answer, from the run and the settings that it is about."""
    stage = asked.moment.stage
    kind = run_kind_of(made.config)
    watched = kind.watching(settings, made.config)
    if stage == "backward":  # final states in the forward direction
        watched = {}
    elif KINDS[asked.key].direction:
        watched["direction"] = 1
    shown = possible_movie(made, stages_of_lesson(kind.name, stage), **watched)
    return _zipped(shown, shown.step_at(stage, asked.moment.timestep, asked.moment.name))


def film_of_step(about: Spec) -> Film:
    """Return the movie that a step of a plan is in, at that step or else at its last one."""
    run, settings = RUN_KINDS[about.get("kind", "packing")], about.get("settings", {})
    batch, config = batch_and_config(about, run)
    stages = stages_of_lesson(run.name, about["stage"]) if "stage" in about else None
    shown = possible_movie(run.record(batch, config), stages, **run.watching(settings, config))
    return _zipped(shown, min(about.get("number", 1), len(shown.steps)))


def _zipped(shown: Movie, step: int) -> Film:
    return Film(gzip.compress(msgspec.json.encode(shown.to_dict()), mtime=0), len(shown.steps), step)
