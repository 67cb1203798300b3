"""The kinds of run in the app: each with its settings, its limits, its record and its movie.

A kind is an entry in APP_KINDS. What it computes stands in packviz.compute.runs, what the movie needs to know of it in
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
from packviz.inputs.config import Config
from packviz.inputs.limits import LIMITS, check_products, check_settings
from packviz.show.movie import Movie, kinds
from packviz.show.movie.marks import Stage
from packviz.show.movie.possible import possible_movie
from packviz.teach.predictions import asking
from ui.state.names import ROW_NAMES

Record = Trace | Refusal | RowsTrace
MovieStage = Stage | Literal["beside"]
BESIDE: tuple[MovieStage, ...] = ("beside",)


@dataclass(frozen=True, eq=False)
class AppKind:
    """A kind of run.

    computes        its record from a batch and a config, within limits
    names           of each setting, its name in the address
    check_own       the check of limits for a batch of our own, of at most a hundred sequences
    stages          that the movie can have
    settled         of a batch and the stages asked for, what stands in place of settings that are None; None: nothing
    """

    computes: RunKind
    names: Mapping[str, str]
    check_own: Callable[[Batch, Any], None]
    stages: tuple[str, ...]
    settled: Callable[[Batch, tuple[MovieStage, ...] | None], Mapping[str, object]] | None = None

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


def film_of(run: Record, stages: tuple[MovieStage, ...] | None, watched: Mapping[str, Any]) -> Movie:
    """Return the movie of a record, with the questions of its first stage if it is a lesson's."""
    film = possible_movie(run, stages, **watched)
    if stages is None or stages[0] == "beside":
        return film
    return asking(film, film.steps[0].stage if isinstance(run, RowsTrace) else stages[0])


def _row_length(batch: Batch, stages: tuple[MovieStage, ...] | None) -> Mapping[str, object]:
    """Return max_length for rows to be filled, and if all tokens are too many for one row: two sequences fit in."""
    longest, shortest = int(batch.lengths.max()), int(batch.lengths.min())
    one_row = (stages or ("",))[0] not in ("fill", "losses") and int(batch.lengths.sum()) <= LIMITS.max_length
    return {} if one_row else {"max_length": min(longest + shortest, LIMITS.max_length)}


def _check_own(batch: Batch, config: Config) -> None:
    """Check the settings alone, and what they cost: a batch of our own may have more sequences than a typed one."""
    check_settings(asdict(config))
    check_products(batch, config)


PACKING = AppKind(
    computes=runs.PACKING_RUN,
    names={name: name for name in asdict(runs.PACKING_RUN.config())},
    check_own=_check_own,
    stages=tuple(stage.name for stage in kinds.PACKING_MOVIE.stages),
)
ROWS = AppKind(
    computes=runs.ROWS_RUN,
    names=ROW_NAMES,
    check_own=check_row_sizes,
    stages=tuple(stage.name for stage in kinds.ROWS_MOVIE.stages),
    settled=_row_length,
)
APP_KINDS: Mapping[str, AppKind] = {kind.name: kind for kind in (PACKING, ROWS)}
