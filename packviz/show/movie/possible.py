"""The movie of the stages that were asked for, as far as a run has them: settings can take a stage from a run."""

from collections.abc import Sequence

from packviz.compute.record import Refusal, Trace
from packviz.compute.row_record import RowsTrace
from packviz.show.movie import Movie, beside, movie
from packviz.show.movie.kinds import movie_kind_of, stages_of

BESIDE = "beside"  # padded beside packed, which is not a stage


def possible_movie(
    run: Trace | Refusal | RowsTrace,
    stages: Sequence[str] | None,
    *,
    layer: int | None = None,
    direction: int = 0,
    head: int = 0,
) -> Movie:
    """Return the movie of some stages in full depth, or of all for None.

    A run that has none of them shows what it has instead: `sort` shows how torch refuses to pack, and `run` is what
    layers without attention do.
    """
    if stages is None:
        return movie(run, layer=layer, direction=direction, head=head)
    if BESIDE in stages and isinstance(run, Trace):
        return beside(run, layer=layer, direction=direction)
    kind = movie_kind_of(run)
    has, all_stages = stages_of(kind, run), {stage.name: stage for stage in kind.stages}
    asked = ["pack" if stage == BESIDE else stage for stage in stages]
    there = [stage for stage in asked if stage in has]
    instead = [all_stages[stage].otherwise or stage for stage in asked]  # if none of them is there
    return movie(run, [*dict.fromkeys(there or instead)], layer=layer, direction=direction, deep=True, head=head)
