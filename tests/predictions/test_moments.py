"""The moment of every prediction is a step that the movie of its stage really has."""

from typing import Any

import pytest
import torch
from prediction_cases import SEEDS, STAGES, asked
from trace_cases import made

from packviz.compute.trace import Trace, trace
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.show.movie import Movie, movie
from packviz.teach.predictions import Moment, Stage, ask

FIRST = "1 2 3\n4 5\n6 7 8 9"


def leads_nowhere(film: Movie, moment: Moment) -> bool:
    played = film.steps[film.step_at(moment.stage, moment.timestep, moment.name) - 1]
    if played.stage != moment.stage:
        return True
    if moment.timestep is None and not moment.name:  # a moment that is meant to be the end of its stage
        return played is not [each for each in film.steps if each.stage == moment.stage][-1]
    by_name = bool(moment.name) and played.name == moment.name
    return not by_name and (moment.timestep is None or played.time != moment.timestep)


def check(seen: Trace, turns: range = range(12)) -> int:
    """Look up every moment in the movie of its lesson: of each stage and direction that this trace has."""
    count = 0
    for stage in STAGES:
        stages: tuple[Stage, ...] = (
            ("pad", "embed") if stage == "pad" and seen.padded.embedding is not None else (stage,)
        )
        for direction in range(2 if seen.module.bidirectional and stage == "run" else 1):
            asked_for = [ask(seen, stage, number, direction=direction) for number in turns]
            moments = {prediction.moment for prediction in asked_for if prediction}
            if moments:
                film = movie(seen, stages, direction=direction, deep=True)
                assert [moment for moment in moments if leads_nowhere(film, moment)] == []
            count += len(moments)
    return count


def wide(lengths: tuple[int, ...] = (200, 3, 130, 128, 129, 7), **settings: Any) -> Trace:
    """Trace lengths of which some are beyond the window of a movie, 60 time steps."""
    return trace(Batch.from_tensors([torch.ones(n, 1) for n in lengths]), Config(hidden_size=1, **settings))


@pytest.mark.parametrize("seed", SEEDS[::6])
def test_the_movie_has_the_step_of_every_moment(seed: int) -> None:
    assert check(asked(seed).seen) > 0


@pytest.mark.slow
def test_it_has_it_where_the_window_is_narrower_than_the_batch() -> None:
    assert check(wide(bidirectional=True, total_length=256), range(0, 120, 9)) > 10
    assert check(wide((150, 150, 150))) > 10
    assert check(made(FIRST, total_length=256)) > 10


@pytest.mark.parametrize("total_length", [None, 4, 6, 256])
def test_the_width_is_shown_by_the_step_on_the_width_where_there_is_one(total_length: int | None) -> None:
    seen = made(FIRST, total_length=total_length)
    film, prediction = movie(seen, ("unpack",), deep=True), ask(seen, "unpack", 1)
    assert prediction is not None
    assert prediction.key == "unpacked_width"
    moment = prediction.moment
    played = film.steps[film.step_at(moment.stage, moment.timestep, moment.name) - 1]
    assert (played.name == "width") == (total_length is not None)
