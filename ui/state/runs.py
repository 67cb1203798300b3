"""Requests, as plain frozen values, and what is shown for them: the requested run, or the last valid one."""

import json
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeVar

from packviz.compute.trace import Refusal, Trace, Traced, trace
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch, ReadAs, sequence_label
from packviz.inputs.config import Config
from packviz.inputs.examples import EXAMPLES
from packviz.inputs.limits import check_limits, check_settings, limited_batch
from packviz.show.movie import Movie, beside, movie
from packviz.show.movie.marks import Stage
from packviz.teach.predictions import asking
from ui.state.cache import cached
from ui.state.visit import visit

T = TypeVar("T")
View = Stage | Literal["beside"]
BESIDE: tuple[View, ...] = ("beside",)
OWN = "own"  # in place of an example's key: the visitor's own text

_TURNS: deque[threading.Event] = deque()  # of the visitors whose pictures are being made; the first one has its turn
_TURNS_CHANGE = threading.Lock()


@dataclass(frozen=True)
class Source:
    """Say where the sequences come from: a text and how to read it, or an example's tensors if there is no text."""

    example: str = EXAMPLES[0].key
    text: str | None = EXAMPLES[0].text
    read_as: ReadAs = "auto"


@dataclass(frozen=True)
class Request:
    """Hold one state of all controls."""

    source: Source = Source()
    settings: tuple[tuple[str, object], ...] = ()  # names and values of a Config, not checked yet
    layer: int | None = None
    direction: int = 0
    # those of a lesson, in full depth; BESIDE for padded beside packed; None for all stages
    stages: tuple[View, ...] | None = None

    @property
    def config(self) -> Config:
        """Return the settings as a Config; raises PackvizError if it refuses them."""
        return Config(**dict(self.settings))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Played:
    """A movie as the app keeps it.

    data      as the player receives it: JSON
    exact     whether the numbers are bitwise equal to torch's; proof: how they compare, in words
    times     of each step of the movie: the time step that it shows, or None
    tokens    the sequence and the time step of each token that can be highlighted
    """

    data: bytes
    exact: bool
    proof: str
    times: tuple[int | None, ...]
    tokens: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Shown:
    """What is on the screen, and the problem if it is not what was requested."""

    request: Request
    batch: Batch
    trace: Traced
    movie: Played
    problem: PackvizError | None = None

    @property
    def letters(self) -> list[str]:
        """The letter of each sequence, as the movie has it."""
        return [sequence_label(b) for b in range(len(self.batch.lengths))]

    @property
    def film(self) -> Movie:
        """The movie itself, to be saved as a file: it is built again, since only its JSON is kept."""
        return _movie(self.trace, self.request)

    def fact(self, find: Callable[[Trace], T]) -> T:
        """Return a function's result for the trace, computed once for all visitors."""
        return self.cached(lambda: find(self.trace), find)

    def cached(self, make: Callable[[], T], *key: Hashable) -> T:
        """Return the result of `make` for this run, cached for all visitors. key: what else it depends on."""
        return cached(make, self.request, *key)


@dataclass
class Runs:
    """A visitor's last request that could be shown."""

    last_good: Request | None = None


@contextmanager
def in_turn() -> Iterator[None]:
    """Make one visitor's picture at a time, in the order of the requests.

    Python runs one thread at a time anyway: if they alternated, all of them would finish late, and so would the
    server's own thread, which sends the finished ones.
    """
    turn = threading.Event()
    with _TURNS_CHANGE:
        _TURNS.append(turn)
        _TURNS[0].set()
    try:
        turn.wait()
        yield
    finally:
        with _TURNS_CHANGE:
            _TURNS.remove(turn)
            if _TURNS:
                _TURNS[0].set()


def latest(request: Request) -> Shown:
    """Return the requested run, or else the visitor's last valid run with the reason."""
    try:
        shown = run(request)
    except PackvizError as problem:
        last = replace(visit(Runs).last_good or Request(), stages=request.stages)
        return replace(run(last), problem=problem)
    visit(Runs).last_good = request
    return shown


def run(request: Request) -> Shown:
    """Return the batch, the trace and the movie of a request.

    Raises PackvizError if it is invalid or exceeds the limits of the app, before anything is computed.
    """
    source, config = request.source, request.config
    traced = cached(lambda: _trace(source, config), source, config)
    assert traced.batch is not None
    return Shown(request, traced.batch, traced, cached(lambda: _played(_movie(traced, request)), request))


def _played(film: Movie) -> Played:
    tokens = tuple((b, t) for b, t in film.tokens)
    return Played(as_json(film), film.exact, film.proof, tuple(step.time for step in film.steps), tokens)


def as_json(film: Movie) -> bytes:
    """Return a movie as the player receives it."""
    return json.dumps(film.to_dict(), ensure_ascii=False, check_circular=False, separators=(",", ":")).encode()


def _trace(source: Source, config: Config) -> Trace:
    if source.text is None:  # a batch of our own: of at most a hundred sequences
        check_settings(asdict(config))
        return trace(Batch.example(source.example), config)
    batch = limited_batch(source.text, source.read_as)
    check_limits(batch, config)
    return trace(batch, config)


def _movie(traced: Trace | Refusal, request: Request) -> Movie:
    stages = request.stages
    watched: dict[str, Any] = {"layer": request.layer, "direction": request.direction}
    if stages is None:
        return movie(traced, **watched)
    if stages == BESIDE and isinstance(traced, Trace):
        return beside(traced, **watched)
    missing = {"embed"} if traced.padded.embedding is None else set()
    there: list[Stage] = [stage for stage in stages if stage != "beside" and stage not in missing]
    if isinstance(traced, Refusal) and "pad" not in there:
        there = ["sort"]  # it shows how torch refuses
    film = movie(traced, there, deep=True, **watched)
    return film if stages[0] == "beside" else asking(film, stages[0])
