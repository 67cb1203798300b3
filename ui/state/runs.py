"""Requests, as plain frozen values, and what is shown for them: the requested run, or the last valid one."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import msgspec

from packviz.compute.record import Refusal, Trace, Traced
from packviz.compute.rows import RowsTrace
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.limits import limited_batch
from packviz.show.movie import Movie
from packviz.text import sequence_label
from ui.state.cache import cached, count_again
from ui.state.kinds import PACKING, AppKind, MovieStage, Record, film_of
from ui.state.names import WATCHED
from ui.state.text import FIRST_EXAMPLE, Source
from ui.state.visit import visit

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """One state of all controls."""

    source: Source = FIRST_EXAMPLE
    settings: tuple[tuple[str, object], ...] = ()  # names and values of the kind's config, not checked yet
    layer: int | None = None
    direction: int = 0
    # those of a lesson, in full depth; BESIDE for padded beside packed; None for all stages
    stages: tuple[MovieStage, ...] | None = None
    kind: AppKind = PACKING
    head: int = 0

    @property
    def config(self) -> Any:
        """Return the settings as the kind's config; raises PackvizError if it refuses them."""
        return self.kind.config(**dict(self.settings))

    @property
    def watched(self) -> dict[str, Any]:
        """Return what the movie watches, as arguments of packviz.movie."""
        return {name: getattr(self, name) for name in WATCHED}


@dataclass(frozen=True)
class Played:
    """A movie as the app keeps it.

    data      as the player receives it: JSON
    exact     whether the numbers are torch's own, as in Movie; proof: how they compare, in words
    times     of each step of the movie: the time step that it shows, or None
    tokens    the sequence and the time step of each token that can be highlighted
    scales    the numbers at which the diverging scale ends, as in Movie
    """

    data: bytes
    exact: bool
    proof: str
    times: tuple[int | None, ...]
    tokens: tuple[tuple[int, int], ...]
    scales: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Shown:
    """What is on the screen, and the problem if it is not what was requested."""

    request: Request
    batch: Batch
    record: Record
    problem: PackvizError | None = None

    @property
    def movie(self) -> Played:
        """The movie of the run, made when it is first read."""
        return cached(lambda: _played(_movie(self.record, self.request)), self.request)

    @property
    def trace(self) -> Traced:
        """The record of a run that packs."""
        assert isinstance(self.record, Trace | Refusal)
        return self.record

    @property
    def rows(self) -> RowsTrace:
        """The record of a run over rows."""
        assert isinstance(self.record, RowsTrace)
        return self.record

    @property
    def letters(self) -> list[str]:
        """The letter of each sequence, as the movie has it."""
        return [sequence_label(b) for b in range(len(self.batch.lengths))]

    @property
    def film(self) -> Movie:
        """The movie itself, to be saved as a file: it is built again, since only its JSON is kept."""
        return _movie(self.record, self.request)

    def fact(self, find: Callable[[Any], T]) -> T:
        """Return a function's result for the record, computed once for all visitors."""
        return self.cached(lambda: find(self.record), find)

    def cached(self, make: Callable[[], T], *key: Hashable) -> T:
        """Return the result of `make` for this run, cached for all visitors. key: what else it depends on."""
        return cached(make, self.request, *key)


@dataclass
class Runs:
    """A visitor's last request of each kind that could be shown."""

    last_good: dict[AppKind, Request] = field(default_factory=dict)


def latest(request: Request) -> Shown:
    """Return the requested run, or else the visitor's last valid run with the reason."""
    try:
        request = _settled(request)
        shown = run(request)
    except PackvizError as problem:
        return replace(run(last_good(request.kind, request.stages)), problem=problem)
    visit(Runs).last_good[request.kind] = request
    return shown


def _settled(request: Request) -> Request:
    """Return the request with what its kind puts in place of settings that are None."""
    if request.kind.settled is None:
        return request
    found = request.kind.settled(_batch(request.source), request.stages)
    settings = ((name, found.get(name) if value is None else value) for name, value in request.settings)
    return replace(request, settings=tuple(settings))


def last_good(kind: AppKind, stages: tuple[MovieStage, ...] | None) -> Request:
    """Return the visitor's last valid request of a kind, for these stages."""
    return replace(visit(Runs).last_good.get(kind) or Request(kind=kind), stages=stages)


def run(request: Request) -> Shown:
    """Return the batch and the record of a request.

    Raises PackvizError if it is invalid or exceeds the limits of the app, before anything is computed.
    """
    source, kind, config = request.source, request.kind, request.config
    record = cached(lambda: _record(source, kind, config), source, kind, config)
    assert record.batch is not None
    count_again(source, kind, config)  # movies, and what was drawn below earlier ones, read more of the record
    return Shown(request, record.batch, record)


def _played(film: Movie) -> Played:
    tokens = tuple((b, t) for b, t in film.tokens)
    return Played(as_json(film), film.exact, film.proof, tuple(step.time for step in film.steps), tokens, film.scales)


def as_json(film: Movie) -> bytes:
    """Return a movie as the player receives it."""
    return msgspec.json.encode(film.to_dict())


def _record(source: Source, kind: AppKind, config: Any) -> Record:
    batch = _batch(source)
    (kind.check_own if source.text is None else kind.computes.check)(batch, config)
    record: Record = kind.computes.record(batch, config)
    return record


def _batch(source: Source) -> Batch:
    return Batch.example(source.example) if source.text is None else limited_batch(source.text, source.read_as)


def _movie(record: Record, request: Request) -> Movie:
    return film_of(record, request.stages, request.watched)
