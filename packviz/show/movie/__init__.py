"""Trace -> Movie: pure data for the player, and the page that plays it anywhere."""

from collections.abc import Callable, Sequence
from typing import get_args

from packviz.compute.record import Trace
from packviz.errors import PackvizError
from packviz.rules import check_kind
from packviz.show.movie.beside import beside
from packviz.show.movie.facts import watched_layer
from packviz.show.movie.film import Film
from packviz.show.movie.model import Stage
from packviz.show.movie.pack import pack
from packviz.show.movie.pad import embed, pad
from packviz.show.movie.page import assets
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import program
from packviz.show.movie.reel import Movie, reel
from packviz.show.movie.run import run
from packviz.show.movie.sort import sort
from packviz.show.movie.unpack import unpack

__all__ = ["STAGES", "Movie", "assets", "beside", "movie"]

STAGES: tuple[Stage, ...] = get_args(Stage)
_SHOOT: dict[Stage, Callable[[Film, Plan], None]] = {
    "pad": pad,
    "embed": embed,
    "sort": sort,
    "pack": pack,
    "run": run,
    "unpack": unpack,
}


def movie(
    trace: Trace,
    stages: Sequence[Stage] | None = None,
    *,
    layer: int | None = None,
    direction: int = 0,
    deep: bool = False,
) -> Movie:
    """Return the movie of a trace.

    stages: some of pad, embed, sort, pack, run and unpack; None means all. A trace that has no embedding has no stage
    embed, and one that torch refused to pack ends with sort.
    layer, direction: what the stage run watches; the top layer and forward if not said, 1 is backward.
    deep: whether each stage is shown with all its whys, as a lesson on it does.

    Raises PackvizError for a stage, layer or direction that this trace does not have.
    """
    check_kind("trace", trace, Trace, "make one with packviz.trace or packviz.trace_module")
    there = _stages(trace)
    chosen = there if stages is None else tuple(stage for stage in there if stage in stages)
    _check_stages(stages, there)
    film, plan = Film(chosen), _plan(trace, layer, direction, frozenset(chosen if deep else ()))
    for stage in there:
        _SHOOT[stage](film, plan)
    return reel(film, plan, program(plan))


def _stages(trace: Trace) -> tuple[Stage, ...]:
    missing = {"embed"} if trace.padded.embedding is None else set()
    return tuple(
        stage for stage in STAGES if stage not in missing | ({"pack", "run", "unpack"} if trace.error else set())
    )


def _check_stages(stages: Sequence[Stage] | None, there: tuple[Stage, ...]) -> None:
    if stages is None:
        return
    unknown = [stage for stage in stages if stage not in there]
    if unknown or not stages:
        raise PackvizError(
            "stages",
            came=", ".join(map(repr, unknown)) or "none",
            expected=f"some of {', '.join(there)}",
            mend="leave out what this trace does not have",
        )


def _plan(trace: Trace, layer: int | None, direction: int, deep: frozenset[Stage]) -> Plan:
    if trace.error is not None:
        return Plan(trace, 0, 0, not trace.padded.batch_first, deep)
    return Plan(trace, watched_layer(trace, layer, direction), direction, not trace.padded.batch_first, deep)
