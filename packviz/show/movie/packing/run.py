"""The recurrent cell at work: the rows that enter, the states that change, the final states."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from packviz.compute.recurrence import TimeStep
from packviz.show.movie.layout import Box, Place, Scene, above, beside
from packviz.show.movie.marks import Frame, Shot, Step, StepSeries, filmed, frame, marks, title
from packviz.show.movie.once import once
from packviz.show.movie.packing import cells, matrices, packed_rows, places, recurrent
from packviz.show.movie.packing.code_lines import start_lines, step_lines
from packviz.show.movie.packing.gates import gate_scene, gates_in_numbers, number_width, numbers_fit, start_scene
from packviz.show.movie.packing.pack import lit
from packviz.show.movie.packing.view import View
from packviz.show.movie.packing.words import TERMS, say
from packviz.text import joined, shape

SHORT = 7  # letters of words up to which packed rows replace the grid where a phone has no room for both: others scroll
LONG = 12  # with more time steps, neither the grid nor the output is shown: with them, texts are too small to read


def run(view: View) -> Iterator[Shot]:
    """Show the initial state and one step for every time step, in processing order."""
    deep = "run" in view.deep
    scene = ("run:start", start_scene(view)) if _in_numbers(view) else None
    steps = [Step(_start_caption(view), detail=start_lines(view, deep=deep), beats=1, scene=scene)]
    taken = [*cells.run_steps(view)]
    quiet = next((step for step in taken if not step.ended and not (step.k and step.began)), None)
    for step in taken:
        lines = step_lines(view, step, deep=deep)
        caption = _step_caption(view, step, gates=step is quiet)
        steps.append(Step(caption, detail=lines, time=step.t, beats=6 if _in_numbers(view) else 3))
    yield StepSeries(_film(view), steps)


def _start_caption(view: View) -> str:
    """Say whose states are watched, and what they are at the start."""
    state, lstm = recurrent.initial_state(view), recurrent.is_lstm(view)
    if len(view.trace.h_n) > 1:
        return f"{_watched_caption(view)} {_start_row_caption(view)}"
    if state == "carried":
        return say("run.carried_lstm" if lstm else "run.carried")
    h = "run.h" if view.total[0] > 1 else "run.h_alone"
    return say(h, "run.start_lstm" if lstm else "run.start", state=say(f"h_0.{state}"))


def _start_row_caption(view: View) -> str:
    """Say in which row of h_0 the watched states start, if there are several, and how its rows are numbered."""
    state, row = recurrent.initial_state(view), view.layer * recurrent.directions(view) + view.direction
    axis = "layers" if recurrent.directions(view) == 1 else "both" if len(view.trace.layers) > 1 else "directions"
    order = say(f"run.order_{axis}")
    if state == "carried":
        return say("run.carried_row", order=order)
    key = "run.start_row_lstm" if recurrent.is_lstm(view) else "run.start_row"
    return say(key, row=row, order=order, state=say(f"h_0_row.{state}"))


def _watched_caption(view: View) -> str:
    """Say which layer and direction are watched, if there are several."""
    layer, both = view.layer, recurrent.directions(view) == 2
    if layer and both:
        key = "run.upper_backward" if view.direction else "run.upper_forward"
        return say(key, layer=layer, below=layer - 1)
    if layer:
        return say("run.upper", layer=layer, below=layer - 1)
    if not both:
        return say("run.lowest")
    if len(view.trace.layers) > 1:
        return say("run.lowest_backward" if view.direction else "run.lowest_forward")
    return say("run.backward" if view.direction else "run.forward")


def _step_caption(view: View, step: TimeStep, *, gates: bool) -> str:
    """Say which rows the cell reads, and then its gates, or who starts, ends or has ended."""
    t, size, cell = step.t, len(step.live), recurrent.cell(view).upper()
    news = _gates_caption(view) if gates else ""
    news = news or _news_caption(view, step)
    if size < view.total[0] or size == 1:
        pads = [b for b in view.order if not view.mask[b, t]]
        spared = 0 if set(pads) & {*step.live} else len(pads)  # with wrong lengths it reads pads, too
        if spared == 1:
            reads = say("run.reads_no_pad", t=t, cell=cell, size=size, live=step.live, pads=pads)
        else:
            reads = say("run.reads_no_pads" if spared else "run.reads", t=t, cell=cell, size=size, live=step.live)
        return f"{reads} {news}".rstrip()
    reads = say("run.reads_all", t=t, cell=cell, size=size)
    return f"{reads} {news or say('run.changes_lstm' if recurrent.is_lstm(view) else 'run.changes')}"


def _gates_caption(view: View) -> str:
    gates = [] if view.small else [f"{letter} ({gate.name})" for letter, gate in recurrent.kind(view).gates.items()]
    key = "run.gates_lstm" if recurrent.is_lstm(view) else "run.gates"
    return say(key, gates=joined(gates)) if gates else ""


def _news_caption(view: View, step: TimeStep) -> str:
    """Say which sequences start or end at a step, or else which were the last to end before it, if any."""
    if view.direction and step.began and len(step.began) < len(step.live):
        return _starts_caption(view, step)
    if len(step.ended) == view.total[0]:
        return _complete_caption(view)
    if step.ended:
        return _ends_caption(view, step)
    live = set(step.live)
    rest = [b for b in view.order if b not in live]
    if not rest or view.direction:
        return ""
    last = max(view.lengths[b] for b in rest) - 1
    return say("run.over", over=[b for b in rest if view.lengths[b] - 1 == last], last=last)


def _starts_caption(view: View, step: TimeStep) -> str:
    new, lstm = step.began, recurrent.is_lstm(view)
    if not step.ended:
        return say("run.starts_lstm" if lstm else "run.starts", new=new, row=packed_rows.noun(view))
    if lstm:
        return say("run.starts_complete_lstm", new=new, h_n=_final(view), c_n=_final(view, "c"))
    return say("run.starts_complete", new=new, h_n=_final(view))


def _complete_caption(view: View) -> str:
    alone, row, last = view.total[0] == 1, packed_rows.noun(view), "first" if view.direction else "last"
    if recurrent.is_lstm(view):
        key = "run.complete_alone_lstm" if alone else "run.complete_lstm"
        return say(key, last=last, row=row, h_n=_final(view), c_n=_final(view, "c"))
    return say("run.complete_alone" if alone else "run.complete", last=last, row=row, h_n=_final(view))


def _ends_caption(view: View, step: TimeStep) -> str:
    h_n, c_n, lstm = _final(view), _final(view, "c"), recurrent.is_lstm(view)
    if 1 < len(step.ended) == len(step.live):
        return say("run.all_end_lstm", h_n=h_n, c_n=c_n) if lstm else say("run.all_end", h_n=h_n)
    if lstm:
        return say("run.ends_lstm", ended=step.ended, h_n=h_n, c_n=c_n)
    return say("run.ends", ended=step.ended, h_n=h_n)


def _final(view: View, letter: str = "h") -> str:
    """Return the name of the final states: with its row if there are several."""
    return (recurrent.final(view) if len(view.trace.h_n) > 1 else "h_n").replace("h", letter)


@once
def run_end(view: View) -> Frame:
    """Return the run as it is after the stage."""
    return {name: group.at(-1) for name, group in _film(view).items()}


def run_scene(view: View) -> Scene:
    """Return the scene: the strips, the cell and its states, in lines or columns."""
    if _in_numbers(view):
        return gate_scene(view)
    x, strip, h_n = view.text, places.strip(view).box, cells.state_box(view, "hn")
    out = [places.out(view).box] * (
        "run" in view.deep
    )  # without the output, which no caption speaks of, cells are larger
    work, strips = beside(cells.cell_box(view), cells.state_box(view, "h"), gap=0.4), above(strip, *out, gap=0.4)
    grid = places.grid(view).box()
    grids = (grid, 0.8), (places.grid(view).box(beside=True), 0.4)
    with_grid = [_risen(each, work, strips, h_n, (gap * x, 0.8 * x)) for each, gap in grids]
    lined = [above(each, strips, beside(work, h_n, gap=0.8 * x), gap=0.4) for each, _ in grids]  # for long rows
    columns = beside(above(strip, *out, gap=0.4 * x), work, h_n, gap=x)
    lines = above(strip, beside(work, h_n, gap=0.8 * x), *out, gap=0.2)
    scrolled = places.scrolled(grid, beside(work, h_n, gap=0.8 * x), above(strip, *out, gap=0.4 * x), x)
    stacked = above(strip, beside(work, h_n), gap=0.8 * x) if view.small else above(strip, work, h_n, gap=0.4)
    if len(packed_rows.live(view)) > LONG and not view.small:
        return Scene(
            [above(strip, beside(work, h_n, gap=0.8 * x), gap=0.4), beside(strip, work, h_n, gap=x)], [stacked]
        )
    replaced = not view.small and places.longest_word(view) <= SHORT
    told = stacked if replaced else above(grid, work, h_n, gap=0.3)
    without = [columns, lines] if out or view.small else []  # what the page shows, full screen shows, too
    return Scene([*with_grid, *lined, *scrolled, *without], [above(grid, stacked, gap=x if view.small else 0.4), told])


def _risen(grid: Box, work: Box, strips: Box, h_n: Box, gaps: tuple[float, float]) -> Box:
    """Return the grid, the cell, and below them the strips and h_n; this moves up beside batch_sizes if taller."""
    box = above(beside(grid, work, gap=gaps[0]), beside(strips, h_n, gap=gaps[1]), gap=0.4)
    rise = np.clip(h_n.height - strips.height, 0.0, max(0.0, grid.height - work.height))
    rise = np.where(strips.width + gaps[1] > grid.width, rise, 0.0)
    (x, y), height = box.panels["hn"], box.height - rise
    return replace(box, height=height, panels={**box.panels, "hn": (x, y - rise)})


@once
def _in_numbers(view: View) -> bool:
    """Return whether the gates are shown as numbers, not as stripes."""
    return "run" in view.deep and numbers_fit(view)


@once
def _film(view: View) -> Frame:
    """Return the initial states, and the frames of each step: rows enter, the cell computes, copies of states leave.

    The cell computes in one frame, or in four if the gates are shown as numbers.
    """
    deep = _in_numbers(view)
    count, unit = (6, number_width(view)) if deep else (3, cells.UNIT)
    steps = np.arange(-1, len(packed_rows.live(view)))
    k, phase = np.divmod(np.arange(-1, count * len(packed_rows.live(view))), count)
    computed = np.where(k < 0, cells.START, k - (phase < count - 2))
    ended = range(0, count * len(steps), count)  # frames in which copies leave; rows enter in the next ones
    new = np.diff(computed, prepend=-3) != 0
    return {
        **lit(view, cells.base(view), np.where(k < 0, -1, cells.time_of(view, k))[:, None]),
        **filmed(frame(cells.entering(view, steps)), [0, *(last + 1 for last in ended[:-1])]),
        **(gates_in_numbers(view, k, phase) if deep else {**_headings(view, k), **_gates(view, k, computed)}),
        **filmed(frame(cells.h_after(view, computed[new], unit)), new.nonzero()[0].tolist()),
        **filmed(frame(cells.outputs(view, steps)) | cells.finals(view, steps, unit), ended),
    }


def _headings(view: View, k: np.ndarray) -> Frame:
    """Return the names of what is shown; those of the gates come with the first step."""
    x, start, begun = view.text, cells.input_width(view) + cells.INPUT_GAP, k[:, None] >= 0
    h = f"h {shape(view.total[0], recurrent.watched(view).h.shape[1])}"
    arrow = f" {'←' if view.direction else '→'}" if recurrent.directions(view) == 2 else ""
    cell = f"{recurrent.cell(view).upper()}{arrow}"  # the layer is named in the map of the stack
    columns = {name: Place("cell", start + i, -0.75 * x) for i, name in enumerate(cells.gate_names(view))}
    return frame(
        title(Place("cell", -1.1 * x, -1.6 * x), cell),
        title(Place("h", 0.0, -1.6 * x), h),
        *(
            marks(f"axis:gate:{name}", "axis", at, h=x, text=name, says=f"!{TERMS[name]}").but(
                shown=begun | (name in recurrent.kind(view).states)
            )
            for name, at in columns.items()
        ),
    )


def _gates(view: View, k: np.ndarray, computed: np.ndarray) -> Frame:
    """Return the gates of the rows live in the k-th step, as far as computed, and an LSTM's c."""
    names, n = cells.gate_names(view), cells.taken(view)[computed + 2]
    ranks, left = places.ranks(view), cells.input_width(view) + cells.INPUT_GAP
    ready = np.minimum(cells.live_rows(view)[k + 1], cells.live_rows(view)[computed + 1])
    groups = []
    for i, name in enumerate(names):
        kept = name in recurrent.kind(view).states
        rows = matrices.rows(view, "inside") + packed_rows.slot(view)[np.maximum(n, 0)] * len(names) + i
        if kept:
            rows = np.where(n >= 0, rows, matrices.rows(view, "c_0") + view.ranked)
        look = {"vec": rows, "shown": (ranks < ready) | kept}
        groups.append(marks(f"gate:{name}", "vector", Place("cell", left + i, ranks), view.ranked, says=name, **look))
    return frame(*groups)
