"""The kinds of run: what each computes, from which settings, and within which limits of a shared process.

A kind is an entry in RUN_KINDS. Its movie stands in packviz.show.movie.kinds, and its questions in
packviz.teach.predictions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from packviz.compute.record import Refusal, Trace
from packviz.compute.row_limits import check_row_limits
from packviz.compute.rows import RowsTrace, trace_rows
from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from packviz.inputs.config import DIRECTIONS, Config
from packviz.inputs.limits import check_limits
from packviz.inputs.row_config import RowConfig
from packviz.validate import choice, integer

__all__ = ["PACKING_RUN", "ROWS_RUN", "RUN_KINDS", "SEQUENCES", "STEPS", "RunKind", "WatchedPart", "run_kind_of"]

SEQUENCES, STEPS = 40, 60  # at most how many of a large batch a movie shows


@dataclass(frozen=True)
class WatchedPart:
    """A part of a run that its movie watches, such as a layer.

    name      among the settings of a question or a step of the class
    argument  of packviz.movie, which takes it as a number from 0
    values    that a config allows, in order
    """

    name: str
    argument: str
    values: Callable[[Any], Sequence[int | str]]

    def number(self, value: object, config: Any) -> int:
        """Return a value as the argument of packviz.movie; raises PackvizError if the config does not allow it."""
        allowed = self.values(config)
        if isinstance(allowed, range):
            return integer(self.name, value, 0, len(allowed) - 1)
        return allowed.index(choice(self.name, value, allowed))


@dataclass(frozen=True, eq=False)
class RunKind:
    """A kind of run.

    name     in plans and class questions
    config   the class of its settings
    check    raises PackvizError if a batch and a config exceed the limits
    record   of a batch and a config
    records  the classes of that record
    watched  what its movie watches
    """

    name: str
    config: type[Any]
    check: Callable[[Batch, Any], None]
    record: Callable[[Batch, Any], Any]
    records: tuple[type, ...]
    watched: tuple[WatchedPart, ...]

    def limited(self, batch: Batch, config: Any) -> Any:
        """Return the record of a batch and a config; raises PackvizError if they exceed the limits."""
        self.check(batch, config)
        return self.record(batch, config)

    def watching(self, settings: Mapping[str, object], config: Any) -> dict[str, int]:
        """Return what these settings watch, as arguments of packviz.movie; raises PackvizError if it cannot."""
        asked = [each for each in self.watched if each.name in settings]
        return {each.argument: each.number(settings[each.name], config) for each in asked}

    def changed(self, config: Any) -> dict[str, Any]:
        """Return the settings that differ from their defaults, by name."""
        defaults = asdict(self.config())
        return {name: value for name, value in asdict(config).items() if value != defaults[name]}


def _layers(config: Config | RowConfig) -> Sequence[int]:
    return range(config.num_layers)


def _directions(config: Config) -> Sequence[str]:
    return DIRECTIONS[: 1 + config.bidirectional]


def _heads(config: RowConfig) -> Sequence[int]:
    return range(config.num_heads if config.layer == "attention" else 1)


PACKING_RUN = RunKind(
    name="packing",
    config=Config,
    check=check_limits,
    record=trace,
    records=(Trace, Refusal),
    watched=(WatchedPart("layer", "layer", _layers), WatchedPart("direction", "direction", _directions)),
)
ROWS_RUN = RunKind(
    name="rows",
    config=RowConfig,
    check=check_row_limits,
    record=trace_rows,
    records=(RowsTrace,),
    watched=(WatchedPart("watched_layer", "layer", _layers), WatchedPart("watched_head", "head", _heads)),
)
RUN_KINDS: Mapping[str, RunKind] = {kind.name: kind for kind in (PACKING_RUN, ROWS_RUN)}


def run_kind_of(config: Config | RowConfig) -> RunKind:
    """Return the kind of run that these settings are for."""
    return next(kind for kind in RUN_KINDS.values() if isinstance(config, kind.config))
