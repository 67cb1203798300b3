"""Run -> Movie: pure data for the player, and a standalone page that plays it."""

from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise
from typing import Any

from torch import Tensor

from packviz.compute.backward import Loss, On
from packviz.compute.notebook import show_runs_with
from packviz.show.movie.about import About, Asked
from packviz.show.movie.data import Movie, made
from packviz.show.movie.kinds import PACKING_MOVIE, MovieKind, StageEntry, View, chosen, movie_kind_of, stages_of
from packviz.show.movie.layout import Scene
from packviz.show.movie.marks import Stage
from packviz.show.movie.packing.beside.back import back_beside
from packviz.show.movie.packing.beside.losses import losses_beside
from packviz.show.movie.packing.beside.run import beside
from packviz.show.movie.packing.words import TERMS
from packviz.show.movie.page import assets, pictured

__all__ = ["STAGES", "TERMS", "Movie", "assets", "back_beside", "beside", "losses_beside", "movie"]

STAGES: tuple[Stage, ...] = tuple(stage.name for stage in PACKING_MOVIE.stages)  # of a trace, in order


def movie(
    trace: Any,
    stages: Collection[Stage] | None = None,
    *,
    layer: int | None = None,
    direction: int = 0,
    deep: bool = False,
    head: int = 0,
    sequences: int = Asked().sequences,
    steps: int = Asked().steps,
    on: On = "last_valid",
    upstream: Tensor | None = None,
    micro_batch: int | None = None,
) -> Movie:
    """Return the movie of a trace.

    stages: some of pad, embed, sort, pack, run, unpack and backward; of rows, two, fill, borders, attention, run, leak
    and losses. None means all but backward and losses. A trace without an embedding has no stage embed, one that torch
    refused to pack ends with sort, and rows have attention or run, as their layers are.
    layer, direction, head: what is watched, the top layer by default; direction 1 is backward; rows have heads instead.
    deep: whether each stage is shown with all its explanations, as in its lesson.
    sequences, steps: at most how many of a large batch are shown: the longest and the shortest sequences, the
    first time steps.
    on, upstream: of a trace, the loss whose gradients backward shows, as in `trace.backward`.
    micro_batch: of rows, how many documents a micro-batch of the losses has; None: so many that it matters.

    Raises PackvizError for what this trace does not have, such as a stage, layer or head, for sequences, steps or a
    micro_batch below 1, and for an upstream gradient without the stage backward.
    """
    kind = movie_kind_of(trace)
    shown, available = chosen(kind, trace, stages), stages_of(kind, trace)
    asked = Asked(
        layer=layer,
        direction=direction,
        head=head,
        deep=frozenset(shown if deep else ()),
        sequences=sequences,
        steps=steps,
        stages=frozenset(shown),
        loss=Loss(on, upstream),
        micro_batch=micro_batch,
    )
    return _played(kind, kind.view(trace, asked), shown, available)


def _played(kind: MovieKind, view: View, shown: dict[str, StageEntry], available: dict[str, StageEntry]) -> Movie:
    """Return the movie of some stages, each beginning with what the one before it leaves.

    view: what they share. shown: the stages, among all that are available.
    """
    before = {kind.stages[0].name: kind.opening}  # by stage, what the one before it leaves
    before |= {name: earlier.end for (_, earlier), (name, _) in pairwise(available.items()) if earlier.end}
    code = kind.program(view)
    lines = {name: list(code).index(stage.statement) for name, stage in shown.items()}
    scenes: dict[str, Scene] = {name: stage.scene(view) for name, stage in shown.items()}
    played = [
        (name, None if i else before[name](view), shot)  # what omitted stages do
        for name, stage in shown.items()
        for i, shot in enumerate(stage.steps(view))
    ]
    opening = before[next(iter(shown))](view)
    return made(_about(kind, view, shown.values()), opening, played, scenes, code, lines)


def _about(kind: MovieKind, view: View, shown: Collection[StageEntry]) -> About:
    about = replace(kind.about(view), stages=tuple(stage.name for stage in kind.stages))
    return about if any(stage.watched for stage in shown) else replace(about, stack={})


def still(run: Any) -> str:
    """Return a picture of a run as HTML without scripts, for notebooks."""
    kind = movie_kind_of(run)
    stages = [*stages_of(kind, run)]
    return pictured(repr(run), movie(run, (kind.still if kind.still in stages else stages[-1],)).to_svg())


show_runs_with(still)
