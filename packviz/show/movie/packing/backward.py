"""The way back: the gradient of a loss goes from the last time step to the first, through states and gates into x."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from packviz.compute.recurrence import TimeStep
from packviz.show.movie.layout import Place, Scene, above, beside
from packviz.show.movie.marks import (
    CodeLine,
    Frame,
    Marks,
    Shot,
    Step,
    StepSeries,
    filmed,
    frame,
    marks,
    title,
    with_numbers,
)
from packviz.show.movie.once import once
from packviz.show.movie.packing import cells, gradients, inputs, matrices, packed_rows, places, recurrent
from packviz.show.movie.packing.pack import lit
from packviz.show.movie.packing.view import View
from packviz.show.movie.written import rounded
from packviz.text import shape

BEATS = 3  # frames of a time step: the gradient of h is complete; it goes into gates and x; it leaves for the rows of x


def backward(view: View) -> Iterator[Shot]:
    """Show where the loss begins, one step for every time step in the opposite order of the run, and what is left."""
    yield Step(gradients.start_caption(view), (_start(view),))
    steps = [
        Step(gradients.step_caption(view, step), detail=_lines(view, step), time=step.t, beats=BEATS)
        for step in _steps(view)
    ]
    yield StepSeries(_film(view), steps)
    weights = [CodeLine(f"{name}.grad", shape(*each.shape)) for name, each in gradients.found(view).weights.items()]
    yield Step(gradients.end_caption(view), (_end(view),), detail=tuple(weights[:8]))


def backward_scene(view: View) -> Scene:
    """Return the scene of the run; without the output if the loss does not begin there."""
    x, strips, grid = view.text, places.strip(view).box, places.grid(view).box()
    work = beside(cells.cell_box(view), cells.state_box(view, "h"), gap=0.4)
    if gradients.found(view).on == "output":
        strips = above(strips, places.out(view).box, gap=0.4)
    below, tall = strips, above(strips, work, gap=0.4)
    if gradients.begins(view):
        h_n = cells.state_box(view, "hn")
        below, tall = beside(strips, h_n, gap=0.8 * x), above(tall, h_n, gap=0.4)
    with_grid = above(beside(grid, work, gap=0.8 * x), below, gap=0.4)
    cell = beside(work, cells.state_box(view, "hn"), gap=0.8 * x) if gradients.begins(view) else work
    return Scene([with_grid, *places.scrolled(grid, cell, strips, x)], [above(grid, tall, gap=0.4)])


@once
def _steps(view: View) -> list[TimeStep]:
    """Return the time steps shown, the last of the run first."""
    return cells.run_steps(view)[::-1]


def _lines(view: View, step: TimeStep) -> tuple[CodeLine, ...]:
    size, added = len(step.live), sum(len(each.live) for each in _steps(view) if each.k >= step.k)
    enters = f"output{view.layer - 1}.data" if view.layer else "data"
    total = sum(view.batch_sizes)
    return (
        CodeLine(f"h.grad[{step.start}:{step.stop}]", shape(size, gradients.watched(view).h.shape[1])),
        CodeLine(f"{enters}.grad[{step.start}:{step.stop}]", shape(size, recurrent.entering(view))),
        CodeLine(f"# weights: {added} of {total} rows added"),
    )


@once
def _start(view: View) -> Frame:
    """Return what is there before the first step: the batch, and the gradient of the loss where it begins."""
    x = view.text
    base = {name: group for name, group in cells.base(view).items() if name not in ("title:hn", "note:hn", "letter")}
    entered = f"gradient of {f'output of layer {view.layer - 1}' if view.layer else 'data'}"
    groups = [
        title(Place("cell", -1.1 * x, -1.6 * x), f"{recurrent.cell(view).upper()}, backward"),
        title(Place("h", 0.0, -1.6 * x), f"∂L/∂h {shape(view.total[0], gradients.watched(view).h.shape[1])}"),
    ]
    gates = {gate: Place("cell", _first_gate(view) + i, -0.75 * x) for i, gate in enumerate(cells.gate_names(view))}
    groups += [marks(f"axis:gate:{gate}", "axis", at, h=x, text=gate) for gate, at in gates.items()]
    base["title:x"] = base["title:x"].but(text="largest entry of |∂L/∂h|")
    base["title:strip"] = base["title:strip"].but(
        text=f"{entered} {shape(*gradients.found(view).inputs[view.layer].shape)}"
    )
    if gradients.found(view).on == "output":
        base["title:out"] = base["title:out"].but(
            text=f"gradient of output {shape(*gradients.found(view).upstream.shape)}"
        )
        groups += [_outputs(view)] if gradients.top(view) else []
    elif gradients.begins(view):
        b, width = view.ranked, gradients.watched(view).h.shape[1]
        loss = gradients.found(view).upstream[:, view.direction * width :]
        groups += [
            title(Place("hn", -1.1 * x, -1.6 * x), f"∂L/∂{recurrent.final(view)}"),
            marks("note:hn", "note", Place("hn", 0.0, -0.8 * x), h=0.8 * x, text="original order"),
            marks("letter", "label", Place("hn", -1.1 * x, view.place[b]), b, w=x, text=places.letters_ranked(view)),
            _state(view, "dhn", "hn", view.place[b], "h_n", loss, b),
        ]
    return {**base, **frame(*groups)}


def _first_gate(view: View) -> float:
    return cells.input_width(view) + cells.INPUT_GAP


def _outputs(view: View) -> Marks:
    """Return the gradient of the loss by the watched half of the output, row by row."""
    b, t, out = packed_rows.sequence(view), packed_rows.time_step(view), places.out(view)
    width = gradients.watched(view).h.shape[1]
    rows = gradients.found(view).upstream[packed_rows.known(view), view.direction * width :][:, : recurrent.units(view)]
    vec = matrices.rows(view, "gradient of output", rows) + packed_rows.slot(view)[packed_rows.number(view)]
    return marks("dout", "output", out.cell(t, view.rank[b]), b, t, w=out.width, h=out.height, vec=vec)


def _state(view: View, name: str, panel: str, row: Any, kind: str, gradient: Tensor, at: np.ndarray) -> Marks:
    """Return a gradient of states in a panel: a number for each unit, or stripes if cells are small.

    kind: the name of the gradient (rows, P). at: (..., B), its row for each of the sequences in sorted order.
    """
    shown = gradient[:, : recurrent.units(view)]
    if not view.small:
        group = cells.units(view, name, panel, row, cells.UNIT, says=f"∂L/∂{kind} of {{seq}}, unit {{k}}")
        return cells.filled(group, rounded(shown)[at])
    place, vec = Place(panel, 0.0, row), matrices.rows(view, f"gradient of {kind}", shown) + at
    return marks(name, "vector", place, view.ranked, w=cells.state_width(view, cells.UNIT), vec=vec)


def _film(view: View) -> Frame:
    """Return the frames of all time steps, three for each."""
    t = np.array([step.t for step in _steps(view)])[:, None]  # (S, 1)
    b, ranks, unit = view.ranked, places.ranks(view), cells.UNIT
    n = packed_rows.row_at(view)[b, t]  # (S, B): the packed row of each sequence shown, or -1
    live, slot, units = n >= 0, packed_rows.slot(view)[np.maximum(n, 0)], 1 if view.small else recurrent.units(view)
    column, rows = np.tile(np.arange(units) * unit, len(b)), np.repeat(ranks, units)
    begin = Place("hn", column, np.repeat(view.place[b], units))
    if gradients.found(view).on == "output":
        begin = places.out(view).cell(t, rows)
    dh = _state(view, "dh", "h", ranks, "h", gradients.watched(view).h[packed_rows.known(view)], slot).but(
        shown=np.repeat(live, units, 1)
    )
    enters = (
        dh.but(shown=dh.shown, origin=begin, anew=gradients.found(view).on == "output") if gradients.top(view) else dh
    )
    every, lines = np.repeat(np.arange(len(t)), BEATS), range(0, BEATS * len(t), BEATS)
    phase = np.tile(np.arange(BEATS), len(t))[:, None]
    return {
        **lit(view, _start(view), np.repeat(t, BEATS, 0)),
        **filmed(frame(enters), lines),
        **frame(*_inside(view, slot[every], live[every] & (phase >= 1))),
        **filmed(_arrived(view, t), [line + 2 for line in lines]),
    }


def _inside(view: View, slot: np.ndarray, shown: np.ndarray) -> Iterator[Marks]:
    """Yield the gradients of the gates and, for an LSTM, of c, and that of what entered, of the live rows."""
    names, ranks, b = np.array(list(cells.gate_names(view))), places.ranks(view), view.ranked
    seen = packed_rows.known(view)
    if names.size:
        made = [gradients.watched(view).rows[name][seen, : recurrent.units(view)] for name in names]
        i, rank = np.tile(np.arange(len(names)), len(b)), np.repeat(ranks, len(names))
        rows = matrices.rows(view, "gradient inside", torch.stack(made, 1).flatten(0, 1))
        vec = (rows + slot[:, :, None] * len(names) + np.arange(len(names))).reshape(len(slot), -1)
        at, seen_now = Place("cell", _first_gate(view) + i, rank), np.repeat(shown, len(names), 1)
        gate = marks("dgate", "vector", at, names[i], b[rank], seq=b[rank], vec=vec, shown=seen_now)
        yield gate.but(origin=Place("h", 0.0, rank))
    vec = _entered(view) + slot
    yield marks("dx", "output", Place("cell", 0.0, ranks), b, w=cells.input_width(view), vec=vec, shown=shown)


@once
def _entered(view: View) -> int:
    """Return where the gradients of what enters the watched layer begin in the movie's numbers, by slot."""
    shown = gradients.found(view).inputs[view.layer][packed_rows.known(view)]
    if not view.layer:
        return matrices.rows(view, "gradient of data", shown[:, : max(inputs.features_shown(view), 1)])
    halves = shown.chunk(recurrent.directions(view), 1)
    kept = torch.cat([half[:, : recurrent.max_units(view) // len(halves)] for half in halves], 1)
    return matrices.rows(view, "gradient of below", kept)


def _arrived(view: View, t: np.ndarray) -> Frame:
    """Return what has gone back to the rows of x, and |∂L/∂h| in the grid, after each step."""
    b, at, strip, grid = packed_rows.sequence(view), packed_rows.time_step(view), places.strip(view), places.grid(view)
    done = at >= t if not view.direction else at <= t
    vec = _entered(view) + packed_rows.slot(view)[packed_rows.number(view)]
    rows = marks("drow", "output", strip.cell(at, view.rank[b]), b, at, w=strip.width, h=strip.height, vec=vec)
    most = rounded(gradients.watched(view).h.abs().amax(1))[packed_rows.number(view)]
    look: dict[str, Any] = {"w": grid.width, "h": grid.height, "says": "largest entry of |∂L/∂h|"}
    heat = marks("heat", "value", grid.cell(view.rank[b], at), b, at, **look)
    return frame(
        rows.but(shown=done, origin=Place("cell", 0.0, view.rank[b])),
        with_numbers(heat, most).but(shown=done, origin=Place("h", 0.0, view.rank[b])),
    )


def _end(view: View) -> Frame:
    """Return the gradients of x, and that of h_0."""
    end = {name: group.at(-1) for name, group in _film(view).items() if name not in ("dx", "dgate")}
    h_0 = gradients.watched(view).h_0
    dh = _state(view, "dh", "h", places.ranks(view), "h_0", h_0, view.ranked)
    return {**end, "dh": dh, "title:h": end["title:h"].but(text=f"∂L/∂h_0 {shape(*h_0.shape)}")}
