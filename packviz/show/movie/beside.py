"""Padded beside packed: the same module on both, a time step at a time, and what that makes of h_n."""

from dataclasses import replace

from packviz.compute.record import Trace
from packviz.rules import check_kind
from packviz.show.movie.facts import watched_layer
from packviz.show.movie.film import Film
from packviz.show.movie.model import CodeLine, Stage
from packviz.show.movie.program import shape
from packviz.show.movie.reel import Movie, reel
from packviz.show.movie.states import entering as entering_width
from packviz.show.movie.twin import Twin
from packviz.show.movie.twin_cast import twin_cast
from packviz.show.movie.twin_end import compared, judged, unsorted
from packviz.show.movie.twin_steps import compute, feed, hand_out
from packviz.show.movie.twin_words import far, last_words, output_words, start_words, step_words

__all__ = ["beside"]


def beside(trace: Trace, *, layer: int | None = None, direction: int = 0) -> Movie:
    """Return the movie of the same module on the padded batch and on the packed one, in step with each other.

    layer, direction: whose states are watched; the top layer and forward if not said, 1 is backward. Its steps belong
    to the stage run; the last two are named `outputs` and `h_n`. Time goes across, whatever batch_first says.

    Raises PackvizError for a layer or direction that this trace does not have, and where torch refused to pack.
    """
    check_kind("trace", trace, Trace, "make one with packviz.trace or packviz.trace_module")
    twin = Twin(trace, watched_layer(trace, layer, direction), direction, transposed=False)
    stages: tuple[Stage, ...] = ("run",)
    film = Film(stages)
    film.scenes["run"] = twin.scene()
    film.add(*twin_cast(twin))
    film.step("run", start_words(twin), 0, detail=_calls(twin))
    for previous, t in zip((None, *twin.times), twin.times, strict=False):
        beats = (feed(twin, t, previous), compute(twin, t), hand_out(twin, t))
        film.step("run", step_words(twin, t), 0, *beats, detail=_rows(twin, t), time=t)
    film.step("run", output_words(twin), 0, unsorted(twin), compared(twin), detail=_outputs(twin), name="outputs")
    film.step("run", last_words(twin), 0, *judged(twin), detail=_finals(twin), name="h_n")
    return _finished(film, twin)


def _finished(film: Film, twin: Twin) -> Movie:
    """Return the movie; its scale has room for h_0 and for the states of pads too."""
    names, start = _states(twin), ", (h_0, c_0)" if twin.cell == "lstm" else ", h_0"
    given = "" if twin.initial_state == "zeros" else start
    lines = (f"out, {names} = {twin.cell}(x{given})", f"output, {names} = {twin.cell}(packed{given})")
    movie = reel(film, twin, {"run": CodeLine("\n".join(lines))})
    states = (twin.trace.h_0, *(half for layer in twin.padded for half in layer))
    largest = max(float(state.abs().nan_to_num(posinf=0.0).amax()) for state in states)
    return replace(
        movie,
        title=f"{movie.title}, padded beside packed",
        scales={**movie.scales, "state": max(movie.scales["state"], largest)},
        proof=f"packed: {movie.proof}",
    )


def _states(twin: Twin) -> str:
    return "(h_n, c_n)" if twin.cell == "lstm" else "h_n"


def _calls(twin: Twin) -> tuple[CodeLine, ...]:
    states, rows = _states(twin), shape(*twin.trace.output.shape)
    return (
        CodeLine(f"out, {states} = {twin.cell}(x)", _out_shape(twin)),
        CodeLine("packed = pack_padded_sequence(…)", f"data {shape(*twin.trace.packed.data.shape)}"),
        CodeLine(f"output, {states} = {twin.cell}(packed)", f"data {rows}"),
    )


def _rows(twin: Twin, t: int) -> tuple[CodeLine, ...]:
    """Tell which rows enter the cell on either side."""
    width = entering_width(twin)
    size = twin.batch_sizes[t] if t < len(twin.batch_sizes) else 0
    start = twin.offsets[t] if size else twin.tokens
    name, data = (f"out{twin.layer - 1}", f"output{twin.layer - 1}.data") if twin.layer else ("x", "data")
    column = f"{name}[:, {t}]" if twin.batch_first else f"{name}[{t}]"
    return (
        CodeLine(f"padded: {column}", shape(twin.total[0], width)),
        CodeLine(f"packed: {data}[{start}:{start + size}]", shape(size, width)),
    )


def _outputs(twin: Twin) -> tuple[CodeLine, ...]:
    unpacked = shape(*twin.trace.unpacked.output.shape)
    return CodeLine("out", _out_shape(twin)), CodeLine("pad_packed_sequence(output)", unpacked)


def _finals(twin: Twin) -> tuple[CodeLine, ...]:
    row, size = twin.layer * twin.directions + twin.direction, shape(*twin.last[0].shape)
    return (
        CodeLine(f"padded: h_n[{row}]", size),
        CodeLine(f"packed: h_n[{row}]", size),
        CodeLine("their largest difference", far(max(twin.last_apart))),
    )


def _out_shape(twin: Twin) -> str:
    (rows, columns), size = twin.total, sum(half.shape[2] for half in twin.padded[-1])
    return shape(rows, columns, size) if twin.batch_first else shape(columns, rows, size)
