"""What is shown: the run that was asked for, or the last one that could be, each computed once for all visitors."""

import threading
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from packviz.compute.trace import Trace, trace
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.show.movie import Movie, beside, movie
from packviz.show.movie.model import Stage
from ui.kept import kept
from ui.requests import BESIDE, Request, Source, View

__all__ = ["MOST_CHARACTERS", "MOST_FEATURES", "MOST_SEQUENCES", "MOST_STEPS", "Shown", "latest", "run"]

# Limits of typed input in the app, where many visitors share one process; the library has none.
MOST_SEQUENCES = 64
MOST_STEPS = 64
MOST_FEATURES = 64
MOST_CHARACTERS = 100_000

_LARGE = 1000  # places in the grid: such movies are drawn in turn, which needs the memory of one and takes no longer
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, eq=False)
class Shown:
    """Hold what is on the screen, and why it is not what was asked for, if it is not."""

    request: Request
    batch: Batch
    trace: Trace
    film: Movie
    problem: PackvizError | None = None

    @property
    def letters(self) -> list[str]:
        """The letter of each sequence, as the movie has it."""
        return [sequence.label for sequence in self.film.sequences]

    @property
    def movie(self) -> dict[str, Any]:
        """The movie as plain data."""
        return self.film.to_dict()


def latest(request: Request) -> Shown:
    """Return what was asked for, or else the visitor's last run that was possible, with the reason."""
    try:
        shown = run(request)
    except PackvizError as problem:
        last = replace(st.session_state.get("last good", Request()), stages=request.stages)
        return replace(run(last), problem=problem)
    st.session_state["last good"] = request
    return shown


def run(request: Request) -> Shown:
    """Return the batch, the trace and the movie of a request; raises PackvizError where there are none."""
    source, config = request.source, request.config
    film = _movie(source, config, request.layer, request.direction, request.stages)
    return Shown(request, _batch(source), _trace(source, config), film)


@st.cache_resource(max_entries=256, show_spinner=False)
def _batch(source: Source) -> Batch:
    if source.text is None:
        return Batch.example(source.example)
    _check("characters", len(source.text), MOST_CHARACTERS)
    batch = Batch.parse(source.text, kind=source.read_as, max_sequences=MOST_SEQUENCES, max_steps=MOST_STEPS)
    if batch.kind == "vectors":
        _check("features in each step", batch.sequences[0].shape[1], MOST_FEATURES)
    return batch


def _check(what: str, count: int, most: int) -> None:
    if count > most:
        mend = "give fewer, or use packviz.Batch.parse in Python, which has no limit of its own"
        raise PackvizError("text", expected=f"at most {most:,} {what}", came=f"{count:,}", mend=mend)


@kept
def _trace(source: Source, config: Config) -> Trace:
    return trace(_batch(source), config)


@kept
def _movie(source: Source, config: Config, layer: int | None, direction: int, stages: tuple[View, ...] | None) -> Movie:
    traced = _trace(source, config)
    with _ONE_AT_A_TIME if traced.padded.values.shape[:2].numel() > _LARGE else nullcontext():
        return _drawn(traced, layer, direction, stages)


def _drawn(traced: Trace, layer: int | None, direction: int, stages: tuple[View, ...] | None) -> Movie:
    if stages is None:
        return movie(traced, layer=layer, direction=direction)
    if stages == BESIDE and traced.error is None:
        return beside(traced, layer=layer, direction=direction)
    missing = {"embed"} if traced.padded.embedding is None else set()
    there: list[Stage] = [stage for stage in stages if stage != "beside" and stage not in missing]
    if traced.error is not None and "pad" not in there:
        there = ["sort"]  # which shows how torch refuses
    return movie(traced, there, layer=layer, direction=direction, deep=True)
