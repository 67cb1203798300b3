"""The kinds of run: what each computes, from which settings, and within which limits of a shared process.

A kind is an entry in RUN_KINDS. Its movie stands in packviz.show.movie.kinds, and its questions in
packviz.teach.predictions.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from packviz.compute.record import Refusal, Trace
from packviz.compute.row_limits import check_row_limits
from packviz.compute.rows import RowsTrace, trace_rows
from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.inputs.limits import check_limits
from packviz.inputs.row_config import RowConfig

__all__ = ["PACKING", "ROWS", "RUN_KINDS", "RunKind", "run_kind_of"]


@dataclass(frozen=True, eq=False)
class RunKind:
    """A kind of run.

    name     in plans and class questions
    config   the class of its settings
    check    raises PackvizError if a batch and a config exceed the limits
    record   of a batch and a config
    records  the classes of that record
    """

    name: str
    config: type[Any]
    check: Callable[[Batch, Any], None]
    record: Callable[[Batch, Any], Any]
    records: tuple[type, ...]

    def limited(self, batch: Batch, config: Any) -> Any:
        """Return the record of a batch and a config; raises PackvizError if they exceed the limits."""
        self.check(batch, config)
        return self.record(batch, config)

    def changed(self, config: Any) -> dict[str, Any]:
        """Return the settings that differ from their defaults, by name."""
        defaults = asdict(self.config())
        return {name: value for name, value in asdict(config).items() if value != defaults[name]}


PACKING = RunKind("packing", Config, check_limits, trace, (Trace, Refusal))
ROWS = RunKind("rows", RowConfig, check_row_limits, trace_rows, (RowsTrace,))
RUN_KINDS: Mapping[str, RunKind] = {kind.name: kind for kind in (PACKING, ROWS)}


def run_kind_of(config: Config | RowConfig) -> RunKind:
    """Return the kind of run that these settings are for."""
    return next(kind for kind in RUN_KINDS.values() if isinstance(config, kind.config))
