"""The recurrent cell at work: the rows that enter, the states that change, those that are final."""

from collections.abc import Iterator

import numpy as np

from packviz.show.movie.code_lines import start_lines, step_lines
from packviz.show.movie.gates import gate_frames, gate_scene, gate_start, numbers_fit
from packviz.show.movie.layout import Place, Scene, above, beside
from packviz.show.movie.marks import Frame, Marks, Step, frame, marks, title
from packviz.show.movie.run_marks import (
    INPUT_GAP,
    START,
    UNIT,
    arrow,
    base,
    cell_box,
    entering,
    finals,
    gate_names,
    h_after,
    input_width,
    live,
    outputs,
    run_steps,
    state_box,
    taken,
)
from packviz.show.movie.view import View, once, shape
from packviz.show.movie.words import STARTS, TERMS, say


def run(view: View) -> Iterator[Step]:
    """Show the initial state and one step for every time step, in the order in which the cell takes them."""
    deep, numbers = "run" in view.deep, _in_numbers(view)
    caption = say("run", "start", view, start=STARTS.get(view.initial_state, view.initial_state))
    first = gate_start if numbers else _start
    yield Step(caption, (first(view),), detail=start_lines(view, deep=deep))
    for k, step in enumerate(run_steps(view)):
        rest = [b for b in view.order if b not in step.live]
        last = max((view.lengths[b] for b in rest), default=0) - 1
        over = [b for b in rest if view.lengths[b] - 1 == last]
        frames = gate_frames(view, k) if numbers else _frames(view, k)
        lines = step_lines(view, step, deep=deep)
        yield Step(say("run", "step", view, step=step, last=last, over=over), frames, detail=lines, time=step.t)


@once
def run_end(view: View) -> Frame:
    """Return the run as the stage leaves it."""
    return (gate_frames if _in_numbers(view) else _frames)(view, len(run_steps(view)) - 1)[-1]


def run_scene(view: View) -> Scene:
    """Return the scene: the strips, the cell and its states, in lines or columns."""
    if _in_numbers(view):
        return gate_scene(view)
    x, strip, out, h_n = view.text, view.strip.box, view.out.box, state_box(view, "hn")
    work, strips = beside(cell_box(view), state_box(view, "h"), gap=0.4), above(strip, out, gap=0.4)
    with_grid = above(beside(view.grid.box(), work, gap=0.8 * x), beside(strips, h_n, gap=0.8 * x), gap=0.4)
    columns = beside(above(strip, out, gap=0.4 * x), work, h_n, gap=x)
    lines = above(strip, beside(work, h_n, gap=0.8 * x), out, gap=0.2)
    stacked = above(strip, beside(work, h_n), gap=0.4) if view.small else above(strip, work, h_n, gap=0.4)
    return Scene([with_grid, columns, lines], [stacked])


@once
def _in_numbers(view: View) -> bool:
    """Return whether the gates stand there as numbers, and not as stripes."""
    return "run" in view.deep and numbers_fit(view)


def _start(view: View) -> Frame:
    return {**_seen(view, None), **_gates(view, -1, START), "h": h_after(view, START, UNIT)}


@once
def _frames(view: View, k: int) -> tuple[Frame, ...]:
    """Return the frames of the k-th step: rows enter, the cell computes, and copies of its states leave."""
    seen, still = _seen(view, run_steps(view)[k].t), entering(view, k, anew=False)
    before = {"out": outputs(view, k - 1), **finals(view, k - 1, UNIT)}
    old, now = ({"h": h_after(view, step, UNIT)} for step in (k - 1, k))
    fed = {**seen, "in": entering(view, k, anew=True), **_gates(view, k, k - 1), **old, **before}
    computed = {**seen, "in": still, **_gates(view, k, k), **now, **before}
    handed = {"out": outputs(view, k, origin=True), **finals(view, k, UNIT, origin=True)}
    return fed, computed, {**computed, **handed}


def _seen(view: View, t: int | None) -> Frame:
    return {**base(view, t), **_headings(view)}


@once
def _headings(view: View) -> Frame:
    x, start = view.text, input_width(view) + INPUT_GAP
    h = f"h {shape(view.total[0], view.watched.h.shape[1])}"
    name = f"{view.cell.upper()}{arrow(view)}"  # the map of the stack names the layer
    gates = {gate: Place("cell", start + i, -0.75 * x) for i, gate in enumerate(gate_names(view))}
    return frame(
        title(Place("cell", -1.1 * x, -1.6 * x), name),
        title(Place("h", 0.0, -1.6 * x), h),
        *(marks(f"axis:gate:{gate}", "axis", at, h=x, text=gate, says=f"!{TERMS[gate]}") for gate, at in gates.items()),
    )


def _gates(view: View, k: int, computed: int) -> Frame:
    """Return the gates of the rows that are live in the k-th step, as far as they are computed; and an LSTM's c."""
    return _some_gates(view, computed, int((live(view)[k + 1] & live(view)[computed + 1]).sum()))


@once
def _some_gates(view: View, computed: int, live: int) -> Frame:
    """Return the gates that stand there after a step, of the first rows, and of all rows an LSTM's c."""
    if not (names := gate_names(view)):
        return {}
    group, rank = _empty_gates(view), np.repeat(view.ranks, len(names))
    return frame(group.but(vec=_gate_rows(view)[computed + 2], shown=(rank < live) | (group.keys[0] == "c")))


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
    names, start = np.array(list(gate_names(view))), input_width(view) + INPUT_GAP
    i, rank = np.tile(np.arange(len(names)), len(view.ranks)), np.repeat(view.ranks, len(names))
    b = view.ranked[rank]
    return marks("gate", "vector", Place("cell", start + i, rank), names[i], b, seq=b)
