"""The kinds of run that a movie can show, and what a movie needs to know of each.

A kind is an entry in MOVIE_KINDS. A stage is a file with three functions of the kind's view: its steps, the layout of
its panels, and the frame that it leaves to the next stage.
"""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

from packviz.compute.record import Refusal, Trace
from packviz.compute.row_record import RowsTrace
from packviz.errors import PackvizError
from packviz.show.movie.about import About, Asked
from packviz.show.movie.layout import Scene
from packviz.show.movie.marks import CodeLine, Frame, Shot
from packviz.show.movie.packing.about import about, is_embedded, is_packed, view_of
from packviz.show.movie.packing.backward import backward, backward_scene
from packviz.show.movie.packing.code_lines import program
from packviz.show.movie.packing.embed import embed, embed_end, embed_scene
from packviz.show.movie.packing.pack import pack, pack_end, pack_scene
from packviz.show.movie.packing.pad import pad, pad_end, pad_scene
from packviz.show.movie.packing.run import run, run_end, run_scene
from packviz.show.movie.packing.sheet import ragged
from packviz.show.movie.packing.sort import sort, sort_end, sort_scene
from packviz.show.movie.packing.unpack import unpack, unpack_scene
from packviz.show.movie.rows import about as rows_about
from packviz.show.movie.rows.attention import attention, attention_end, attention_scene, has_attention
from packviz.show.movie.rows.borders import borders, borders_end, borders_scene
from packviz.show.movie.rows.fill import fill, fill_end, fill_scene
from packviz.show.movie.rows.leak import leak, leak_end, leak_scene
from packviz.show.movie.rows.losses import losses, rows_scene
from packviz.show.movie.rows.run import has_run
from packviz.show.movie.rows.run import run as run_rows
from packviz.show.movie.rows.run import run_end as run_rows_end
from packviz.show.movie.rows.run import run_scene as run_rows_scene
from packviz.show.movie.rows.two import opening, two, two_end, two_scene
from packviz.show.movie.rows.view import view_of as rows_view_of
from packviz.text import joined, shown, with_article

View = Any  # what the stages of a kind share: each kind has its own record


def always(_run: Any) -> bool:
    """Return True: every run of the kind has the stage."""
    return True


@dataclass(frozen=True)
class StageEntry:
    """A stage of a kind of run.

    name: of the stage, in links and captions. statement: the name of its line in the program. steps: yields its steps.
    scene: the layout of its panels. end: the frame that it leaves to the next stage, None for the last one. has:
    whether a run has it. by_default: whether a movie has it even if it is not asked for. otherwise: the stage that a
    run without it shows in its place. watched: whether it shows the layer, direction or head that is watched, so that
    the player offers the others.
    """

    name: str
    statement: str
    steps: Callable[[View], Iterator[Shot]]
    scene: Callable[[View], Scene]
    end: Callable[[View], Frame] | None = None
    has: Callable[[Any], bool] = always
    by_default: bool = True
    otherwise: str | None = None
    watched: bool = False


@dataclass(frozen=True)
class MovieKind:
    """A kind of run.

    records: the classes of its record. makers: the functions that return it. stages: in order. view: what its stages
    share, from the run and what the caller asked for. opening: the frame before the first stage. program: the lines of
    code beside the picture, by the name of their statement. about: what a movie says about the run as a whole. still:
    the stage whose picture stands for the run in a notebook, or, if the run does not have it, the last one that it has.
    """

    records: tuple[type, ...]
    makers: tuple[str, ...]
    stages: tuple[StageEntry, ...]
    view: Callable[[Any, Asked], View]
    opening: Callable[[View], Frame]
    program: Callable[[View], dict[str, CodeLine]]
    about: Callable[[View], About]
    still: str


PACKING_MOVIE = MovieKind(
    records=(Trace, Refusal),
    makers=("packviz.trace", "packviz.trace_module"),
    stages=(
        StageEntry("pad", "pad", pad, pad_scene, pad_end),
        StageEntry("embed", "embed", embed, embed_scene, embed_end, has=is_embedded, otherwise="pad"),
        StageEntry("sort", "pack", sort, sort_scene, sort_end),
        StageEntry("pack", "pack", pack, pack_scene, pack_end, has=is_packed, otherwise="sort"),
        StageEntry("run", "run", run, run_scene, run_end, has=is_packed, otherwise="sort", watched=True),
        StageEntry("unpack", "unpack", unpack, unpack_scene, run_end, has=is_packed, otherwise="sort"),
        StageEntry("backward", "backward", backward, backward_scene, has=is_packed, by_default=False, otherwise="sort"),
    ),
    view=view_of,
    opening=ragged,
    program=program,
    about=about,
    still="pack",
)
ROWS_MOVIE = MovieKind(
    records=(RowsTrace,),
    makers=("packviz.trace_rows",),
    stages=(
        StageEntry("two", "two", two, two_scene, two_end),
        StageEntry("fill", "fill", fill, fill_scene, fill_end),
        StageEntry("borders", "borders", borders, borders_scene, borders_end),
        StageEntry(
            "attention",
            "attention",
            attention,
            attention_scene,
            attention_end,
            has=has_attention,
            otherwise="run",
            watched=True,
        ),
        StageEntry(
            "run", "run", run_rows, run_rows_scene, run_rows_end, has=has_run, otherwise="attention", watched=True
        ),
        StageEntry("leak", "leak", leak, leak_scene, leak_end),
        StageEntry("losses", "losses", losses, rows_scene, by_default=False),
    ),
    view=rows_view_of,
    opening=opening,
    program=rows_about.program,
    about=rows_about.about,
    still="fill",
)
MOVIE_KINDS = (PACKING_MOVIE, ROWS_MOVIE)


def movie_kind_of(run: object) -> MovieKind:
    """Return the kind of a run; raises PackvizError if it is of no kind that a movie can show."""
    found = next((kind for kind in MOVIE_KINDS if isinstance(run, kind.records)), None)
    if found is None:
        expected = joined([with_article(kind.records[0].__name__) for kind in MOVIE_KINDS], word="or")
        fix = f"make one with {joined([name for kind in MOVIE_KINDS for name in kind.makers], word='or')}"
        raise PackvizError("trace", expected=expected, got=shown(run), fix=fix)
    return found


def stages_of(kind: MovieKind, run: object) -> dict[str, StageEntry]:
    """Return the stages that a run has, in order, by name."""
    return {stage.name: stage for stage in kind.stages if stage.has(run)}


def chosen(kind: MovieKind, run: object, stages: Any) -> dict[str, StageEntry]:
    """Return those of a run's stages that were asked for, in their own order; None asks for the usual ones.

    Raises PackvizError for a stage that the run does not have, and if there is none.
    """
    has = stages_of(kind, run)
    several = isinstance(stages, Sequence | Set) and not isinstance(stages, str)
    usual = [name for name, stage in has.items() if stage.by_default]
    asked = usual if stages is None else list(stages) if several else [stages]
    unknown = [repr(stage) for stage in asked if not isinstance(stage, str) or stage not in has]
    if unknown or not asked:
        expected, fix = f"some of {', '.join(has)}", "leave out what this trace does not have"
        raise PackvizError("stages", expected=expected, got=", ".join(unknown) or "none", fix=fix)
    return {name: stage for name, stage in has.items() if name in asked}
