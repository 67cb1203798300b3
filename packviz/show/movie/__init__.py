"""Trace -> Movie: pure data for the player, and a standalone page that plays it."""

from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

from packviz.compute.record import Refusal, Trace, check_traced, watched_layer
from packviz.errors import PackvizError
from packviz.show.movie.beside_steps import beside
from packviz.show.movie.code_lines import program
from packviz.show.movie.data import Movie, made
from packviz.show.movie.facts import Window
from packviz.show.movie.layout import Scene
from packviz.show.movie.marks import Stage
from packviz.show.movie.page import assets, pictured
from packviz.show.movie.sheet import ragged
from packviz.show.movie.view import View
from packviz.show.movie.words import ABOUT_STAGES, TERMS

__all__ = ["STAGES", "TERMS", "Movie", "assets", "beside", "movie"]


STAGES: tuple[Stage, ...] = tuple(ABOUT_STAGES)  # in order
_MODULES = {stage: import_module(f"{__name__}.{stage}") for stage in STAGES}


def _of(stage: Stage, part: str = "") -> Callable[[View], Any]:
    """Return a stage's function, found by its name: pack, pack_scene and pack_end in pack.py."""
    made: Callable[[View], Any] = getattr(_MODULES[stage], stage + part)
    return made


def movie(
    trace: Trace | Refusal,
    stages: Sequence[Stage] | None = None,
    *,
    layer: int | None = None,
    direction: int = 0,
    deep: bool = False,
    sequences: int = Window().sequences,
    steps: int = Window().steps,
) -> Movie:
    """Return the movie of a trace.

    stages: some of pad, embed, sort, pack, run and unpack; None means all. A trace without an embedding has no stage
    embed, and one that torch refused to pack ends with sort.
    layer, direction: what the stage run watches, by default the top layer and 0, forward; 1 is backward.
    deep: whether each stage is shown with all its explanations, as in its lesson.
    sequences, steps: at most how many of a large batch are shown: the longest sequences, the first time steps.

    Raises PackvizError for a stage, layer or direction that this trace does not have, and for sequences or
    steps below 1.
    """
    check_traced(trace)
    has = {"embedding": trace.padded.embedding is not None, "packing": isinstance(trace, Trace)}
    available = tuple(stage for stage, about in ABOUT_STAGES.items() if "needs" not in about or has[about["needs"]])
    stages = stages if stages is None or (isinstance(stages, Sequence) and not isinstance(stages, str)) else (stages,)
    chosen = available if stages is None else tuple(stage for stage in available if stage in stages)
    unknown = [repr(stage) for stage in stages or () if stage not in available]
    if unknown or not chosen:
        expected, fix = f"some of {', '.join(available)}", "leave out what this trace does not have"
        raise PackvizError("stages", expected=expected, got=", ".join(unknown) or "none", fix=fix)
    watched = 0 if isinstance(trace, Refusal) else watched_layer(trace, layer, direction)
    watching = 0 if isinstance(trace, Refusal) else direction
    window, whys = Window(sequences, steps).checked(), frozenset(chosen if deep else ())
    view = View(trace, watched, watching, window, transposed=not trace.padded.batch_first, deep=whys)
    before = {stage: _of(previous, "_end") for previous, stage in pairwise(available)} | {available[0]: ragged}
    code = program(view)
    lines = {stage: list(code).index(ABOUT_STAGES[stage]["statement"]) for stage in chosen}
    scenes: dict[str, Scene] = {stage: _of(stage, "_scene")(view) for stage in chosen}
    played = (
        (stage, None if i else before[stage](view), shot)  # what omitted stages do
        for stage in chosen
        for i, shot in enumerate(_of(stage)(view))
    )
    return made(view, before[chosen[0]](view), played, scenes, code, lines)


def _shown(trace: Trace | Refusal) -> str:
    return pictured(repr(trace), movie(trace, ("sort",) if isinstance(trace, Refusal) else ("pack",)).to_svg())


Trace._repr_html_ = Refusal._repr_html_ = _shown  # type: ignore[attr-defined] # for notebooks; compute/ knows no pictures
