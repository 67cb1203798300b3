"""The kinds of run in the app: each with its settings, its limits, its record and its movie.

A kind is an entry in KINDS. What it computes stands in packviz.compute.runs, what the movie needs to know of it in
packviz.show.movie.kinds, and its controls in ui.parts.settings.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from packviz.compute import runs
from packviz.compute.record import Refusal, Trace
from packviz.compute.row_limits import check_row_sizes
from packviz.compute.rows import RowsTrace
from packviz.compute.runs import RunKind
from packviz.inputs.batch import Batch
from packviz.inputs.limits import LIMITS, check_settings
from packviz.show.movie import STAGES, Movie, beside, movie
from packviz.show.movie.kinds import kind_of, stages_of
from packviz.show.movie.marks import Stage
from packviz.teach.predictions import asking
from ui.state.names import ROW_NAMES

Record = Trace | Refusal | RowsTrace
View = Stage | Literal["beside"]
BESIDE: tuple[View, ...] = ("beside",)


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of run.

    computes        its record from a batch and a config, within limits
    names           of each setting, its name in the address
    check_own       the check of limits for a batch of our own, of at most a hundred sequences
    film            the movie of a record: some of its stages, or all; with what is watched of it
    stages          that the movie can have
    settled         of a batch and the stages asked for, what stands in place of settings that are None; None: nothing
    """

    computes: RunKind
    names: Mapping[str, str]
    check_own: Callable[[Batch, Any], None]
    film: Callable[[Any, tuple[View, ...] | None, Mapping[str, Any]], Movie]
    stages: tuple[str, ...]
    settled: Callable[[Batch, tuple[View, ...] | None], Mapping[str, object]] | None = None

    @property
    def name(self) -> str:
        """Return its name in a saved plan."""
        return self.computes.name

    @property
    def config(self) -> type[Any]:
        """Return the class of its settings."""
        return self.computes.config

    @property
    def defaults(self) -> Mapping[str, object]:
        """Return the settings by their names in the config."""
        return asdict(self.config())


def _packing_film(traced: Trace | Refusal, stages: tuple[View, ...] | None, watched: Mapping[str, Any]) -> Movie:
    if stages is None:
        return movie(traced, **watched)
    if stages == BESIDE and isinstance(traced, Trace):
        return beside(traced, layer=watched["layer"], direction=watched["direction"])
    missing = {"embed"} if traced.padded.embedding is None else set()
    there: list[Stage] = [stage for stage in stages if stage != "beside" and stage not in missing]
    if isinstance(traced, Refusal) and "pad" not in there:
        there = ["sort"]  # it shows how torch refuses
    film = movie(traced, there, deep=True, **watched)
    return film if stages[0] == "beside" else asking(film, stages[0])


def _rows_film(rows: RowsTrace, stages: tuple[View, ...] | None, watched: Mapping[str, Any]) -> Movie:
    if stages is None:
        return movie(rows, **watched)
    has = stages_of(kind_of(rows), rows)
    wanted = ["run" if stage == "attention" and rows.mask is None else stage for stage in stages]  # of other layers
    there = [stage for stage in wanted if stage in has] or [[*has][-1]]  # attention has no stage run
    return asking(movie(rows, there, deep=True, **watched), there[0])


def _row_length(batch: Batch, stages: tuple[View, ...] | None) -> Mapping[str, object]:
    """Return max_length for rows to be filled, and if all tokens are too many for one row: two sequences fit in."""
    longest, shortest = int(batch.lengths.max()), int(batch.lengths.min())
    one_row = stages not in (("fill",), ("losses",)) and int(batch.lengths.sum()) <= LIMITS.max_length
    return {} if one_row else {"max_length": min(longest + shortest, LIMITS.max_length)}


PACKING = Kind(
    computes=runs.PACKING,
    names={name: name for name in asdict(runs.PACKING.config())},
    check_own=lambda _, config: check_settings(asdict(config)),
    film=_packing_film,
    stages=STAGES,
)
ROWS = Kind(
    computes=runs.ROWS,
    names=ROW_NAMES,
    check_own=check_row_sizes,
    film=_rows_film,
    stages=("two", "fill", "borders", "attention", "run", "leak", "losses"),
    settled=_row_length,
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (PACKING, ROWS)}
