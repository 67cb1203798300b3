"""The recurrent cell at work: the rows that enter, the states that change, those that are final."""

from collections.abc import Iterator

import numpy as np

from packviz.compute.recurrence import Step as TimeStep
from packviz.show.movie.cell import (
    INPUT_GAP,
    UNIT,
    arrow,
    cell_box,
    filled,
    gate_names,
    heading,
    input_width,
    state,
    state_box,
)
from packviz.show.movie.formulas import start_line, step_lines, whole_lines, whole_start
from packviz.show.movie.gate_panels import gate_scene, numbers_fit
from packviz.show.movie.gates import gate_end, gate_frames, gate_start
from packviz.show.movie.layout import Box, Scene, above, beside
from packviz.show.movie.marks import Frame, Marks, Place, frame, marks
from packviz.show.movie.run_marks import START, base, entering, finals, live, outputs, row_of, run_steps, states, taken
from packviz.show.movie.step import Step
from packviz.show.movie.view import View, once, shape
from packviz.show.movie.words import STARTS, TERMS, say


def run(view: View) -> Iterator[Step]:
    """Show the initial state and one step for every time step, in the order in which the cell takes them."""
    deep, numbers = "run" in view.deep, _in_numbers(view)
    lines = whole_start(view) if deep else start_line(view)
    yield Step(
        say("run", "start", view, start=STARTS.get(view.initial_state, view.initial_state)),
        (gate_start(view) if numbers else _start(view),),
        detail=lines,
    )
    for k, step in enumerate(run_steps(view)):
        frames = gate_frames(view, k) if numbers else _frames(view, k)
        lines = whole_lines(view, step) if deep else step_lines(view, step)
        yield Step(_caption(view, step), frames, detail=lines, time=step.t)


@once
def run_end(view: View) -> Frame:
    """Return the run as the stage leaves it."""
    k = len(run_steps(view)) - 1
    return gate_end(view) if _in_numbers(view) else _frames(view, k)[-1]


def _caption(view: View, step: TimeStep) -> str:
    live = set(step.live)
    rest = [b for b in view.order if b not in live]
    last = max((view.lengths[b] for b in rest), default=0) - 1
    return say("run", "step", view, step=step, last=last, over=[b for b in rest if view.lengths[b] - 1 == last])


def run_scene(view: View) -> Scene:
    """Return the scene: the strips, the cell and its states, in lines or columns."""
    if _in_numbers(view):
        return gate_scene(view)
    return Scene([_with_grid(view), _columns(view), _lines(view)], [_stacked(view)])


@once
def _in_numbers(view: View) -> bool:
    """Return whether the gates stand there as numbers, and not as stripes."""
    return "run" in view.deep and numbers_fit(view)


def _work(view: View) -> Box:
    return beside(cell_box(view), state_box(view, "h"), gap=0.4)


def _with_grid(view: View) -> Box:
    strips = above(view.strip.box, view.out.box, gap=0.4)
    top = beside(view.grid.box(), _work(view), gap=0.8 * view.text)
    return above(top, beside(strips, state_box(view, "hn"), gap=0.8 * view.text), gap=0.4)


def _lines(view: View) -> Box:
    work = beside(_work(view), state_box(view, "hn"), gap=0.8 * view.text)
    return above(view.strip.box, work, view.out.box, gap=0.3)


def _columns(view: View) -> Box:
    strips = above(view.strip.box, view.out.box, gap=0.4 * view.text)
    return beside(strips, _work(view), state_box(view, "hn"), gap=view.text)


def _stacked(view: View) -> Box:
    if view.small:
        return above(view.strip.box, beside(_work(view), state_box(view, "hn")), gap=0.4)
    return above(view.strip.box, _work(view), state_box(view, "hn"), gap=0.4)


def _start(view: View) -> Frame:
    return {**_seen(view, None), **_gates(view, -1, START), "h": _state(view, START)}


def _frames(view: View, k: int) -> tuple[Frame, ...]:
    """Return the frames of the k-th step: rows enter, the cell computes, and copies of its states leave."""
    seen, still = _seen(view, run_steps(view)[k].t), entering(view, k, anew=False)
    before = {"out": outputs(view, k - 1), **finals(view, k - 1, UNIT)}
    h = _state(view, k)
    fed = {**seen, "in": entering(view, k, anew=True), **_gates(view, k, k - 1), "h": _state(view, k - 1), **before}
    computed = {**seen, "in": still, **_gates(view, k, k), "h": h, **before}
    handed = {"out": outputs(view, k, origin=True), **finals(view, k, UNIT, origin=True)}
    return fed, computed, {**computed, **handed}


def _seen(view: View, t: int | None) -> Frame:
    """Return what stands around the cell."""
    return {**base(view, t), **_headings(view)}


@once
def _headings(view: View) -> Frame:
    x, layer = view.text, f" · layer {view.layer}" if len(view.trace.layers) > 1 else ""
    start = input_width(view) + INPUT_GAP
    axes = [
        marks(f"axis:gate:{gate}", "axis", Place("cell", start + i, -0.75 * x), h=x, text=gate, says=f"!{TERMS[gate]}")
        for i, gate in enumerate(gate_names(view))
    ]
    name = f"{view.cell.upper()}{layer}{arrow(view)}"
    h = f"h {shape(view.total[0], view.watched.h.shape[1])}"
    heads = heading("cell", Place("cell", -1.1 * x, -1.6 * x), name), heading("h", Place("h", 0.0, -1.6 * x), h)
    return frame(*heads, *axes)


def _gates(view: View, k: int, computed: int) -> Frame:
    """Return the gates of the rows that are live in the k-th step, as far as they are computed; and an LSTM's c."""
    return _some_gates(view, computed, int((live(view)[k + 1] & live(view)[computed + 1]).sum()))


@once
def _some_gates(view: View, computed: int, live: int) -> Frame:
    names = gate_names(view)
    if not names:
        return {}
    group, rank = _empty_gates(view), np.repeat(np.arange(len(view.by_rank)), len(names))
    shown = (rank < live) | (group.keys[0] == "c")
    return frame(group.but(vec=_gate_rows(view)[computed + 2], shown=shown))


@once
def _gate_rows(view: View) -> np.ndarray:
    """Return (steps + 2, gates): where in the movie's numbers each gate stands; the lines are those of `taken`."""
    names, n = gate_names(view), taken(view)[:, :, None]
    rows = view.rows("inside") + view.slot[np.maximum(n, 0)] * len(names) + np.arange(len(names))
    if names[-1] == "c":
        rows[..., -1:] = np.where(n >= 0, rows[..., -1:], view.rows("c_0") + view.ranked[:, None])
    found: np.ndarray = rows.reshape(len(rows), -1)
    return found


@once
def _empty_gates(view: View) -> Marks:
    names, b, start = np.array(list(gate_names(view))), view.ranked, input_width(view) + INPUT_GAP
    i, rank = np.tile(np.arange(len(names)), len(b)), np.repeat(np.arange(len(b)), len(names))
    return marks("gate", "vector", Place("cell", start + i, rank), (names[i], b[rank]), seq=b[rank])


@once
def _state(view: View, k: int) -> Marks:
    group = _empty_state(view)
    return group.but(vec=row_of(view, k)) if view.small else filled(group, states(view, "h")[k + 2])


@once
def _empty_state(view: View) -> Marks:
    return state(view, "h", np.arange(len(view.by_rank)), UNIT)
