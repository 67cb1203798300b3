"""What every run shows at any level of detail: rows enter, states change, and copies go to the output and to h_n."""

from typing import Any

import numpy as np

from packviz.compute.recurrence import TimeStep
from packviz.inputs.config import DIRECTIONS
from packviz.show.movie.layout import Box, Column, Margins, Place, panel
from packviz.show.movie.marks import NONE, Frame, Marks, frame, marks, title, with_numbers
from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, matrices, packed_rows, places, recurrent, token_table
from packviz.show.movie.packing.pack import pack_end
from packviz.show.movie.packing.view import View
from packviz.text import shape

UNIT = 1.8  # width of a number of a state
INPUT_GAP = 0.4  # between what enters the cell and its gates
ENTERING = (1.9, 5.0)  # how much wider than its word an entering cell is in depth, without the grid; the maximum width
START = -2  # as a step number: no row was taken yet; -1 stands for the steps omitted before the first one shown


def gate_names(view: View) -> str:
    """Return the letters of what is shown inside the cell: its gates, and an LSTM's c; none if cells are too small."""
    return "" if view.small else "".join((*recurrent.gates(view), *recurrent.kind(view).states[1:]))


def cell_box(view: View) -> Box:
    """Return the box of the cell: what enters, and its gates."""
    x, width = view.text, input_width(view) + INPUT_GAP + len(gate_names(view))
    return panel("cell", width, float(len(view.ranked)), Margins(1.3 * x, 1.65 * x, 0.2 * x, 0.1))


def state_box(view: View, name: str, unit: float = UNIT) -> Box:
    """Return the box of h, or of h_n with its letters; unit is the width of a number."""
    x, left = view.text, 1.2 * view.text if name == "hn" else 0.1
    return panel(name, state_width(view, unit), float(len(view.ranked)), Margins(left, 1.65 * x, 0.2 * x, 0.1))


def input_width(view: View) -> float:
    """Return the width of what enters the cell."""
    if view.small or places.word_width(view) == 1.0:
        return view.text if view.small else 1.0
    times, most = ENTERING if "run" in view.deep else (1.0, ENTERING[1])
    return min(times * places.word_width(view), most)


def state_width(view: View, unit: float) -> float:
    """Return the width of a row of h; unit is the width of a number."""
    return recurrent.units(view) * unit if not view.small else max(8.0, len(view.ranked) / 4)


def state(view: View, name: str, row: Column, unit: float) -> Marks:
    """Return the rows of h or h_n in sorted order, not filled in yet: one number per unit, or stripes."""
    b = view.ranked
    if view.small:
        return marks(name, "vector", Place(name, 0.0, row), b, w=state_width(view, unit))
    return units(view, name, name, row, unit, says=f"{'h_n' if name == 'hn' else 'h'}, unit {{k}}")


def h_after(view: View, k: np.ndarray, unit: float) -> Marks:
    """Return h of every sequence, in sorted order, after the k-th step; unit is the width of a number."""
    group = state(view, "h", places.ranks(view), unit)
    return group.but(vec=row_of(view, k)) if view.small else filled(group, states(view, "h")[k + 2])


def units(view: View, name: str, where: str, row: Column, width: float, says: str) -> Marks:
    """Return a cell for every unit of every sequence in sorted order, in a panel."""
    b, count = view.ranked, recurrent.units(view)
    rows, unit = np.repeat(b, count), np.tile(np.arange(count), len(b))
    place = Place(where, unit * width, np.repeat(row, count))
    return marks(name, "value", place, rows, unit, w=width, says=says)


def filled(group: Marks, values: np.ndarray) -> Marks:
    """Return the cells of units filled with numbers (..., B, units); one that is not finite is written as text."""
    return with_numbers(group, values.reshape(*values.shape[:-2], -1))


@once
def run_steps(view: View) -> list[TimeStep]:
    """Return the time steps that are shown, in processing order."""
    steps = (recurrent.watched(view).step(k) for k in range(recurrent.watched(view).steps))
    return [step for step in steps if step.t < view.columns]


def time_of(view: View, k: Column) -> Column:
    """Return the time step of the k-th step."""
    return len(packed_rows.live(view)) - 1 - k if view.direction else k


@once
def live_rows(view: View) -> np.ndarray:
    """Return (steps + 1, 1): how many of the rows shown are live in each step; none before the first."""
    return np.array([0, *packed_rows.live_sizes(view)[time_of(view, np.arange(len(packed_rows.live(view))))]])[:, None]


def ended(view: View, k: np.ndarray) -> np.ndarray:
    """Return (k, B): which of the sequences, in sorted order, have taken their last step by the k-th."""
    last = len(packed_rows.live(view)) - 1 if view.direction else np.array(view.lengths)[view.ranked] - 1
    return (last <= k[:, None]) | np.zeros(len(places.ranks(view)), dtype=bool)


@once
def taken(view: View) -> np.ndarray:
    """Return (steps + 2, B): the packed row that each sequence, in sorted order, has taken last, or NONE.

    The first line is the start, the second the time just before the first step shown.
    """
    rows = np.full((len(packed_rows.live(view)) + 2, len(places.ranks(view))), NONE)
    rows[1, : len(packed_rows.taken_n(view))] = packed_rows.taken_n(view)
    for k in range(len(packed_rows.live(view))):
        live = places.ranks(view) < live_rows(view)[k + 1]
        rows[k + 2] = np.where(
            live, packed_rows.offsets(view)[time_of(view, k)] + packed_rows.within(view), rows[k + 1]
        )
    return rows


@once
def states(view: View, name: str) -> np.ndarray:
    """Return (steps + 2, B, units): h or c of every sequence, in sorted order; the lines are as in `taken`."""
    n = taken(view)
    start = matrices.known(view, f"{name}_0")[view.ranked]
    found: np.ndarray = np.where((n >= 0)[..., None], matrices.known(view, name)[packed_rows.slot(view)[n]], start)
    return found


@once
def base(view: View) -> Frame:
    """Return the packed rows, and the headings of the run."""
    x, b, letters = view.text, view.ranked, places.letters_ranked(view)
    h_n = f"{recurrent.final(view)} {shape(view.total[0], recurrent.watched(view).h.shape[1])}"
    half = f", {DIRECTIONS[view.direction]} half" if recurrent.directions(view) == 2 else ""
    strip = dict(pack_end(view))
    if view.layer:  # the strip holds the output of the layer below; what was not packed stays as it is
        for group in [strip[name] for name in ("token", "stray") if name in strip]:
            rows = _below(view, *group.keys)
            vec, scale = np.where(rows >= 0, rows, group.look["vec"]), np.where(rows >= 0, "state", "input")
            strip[group.name] = group.but(vec=vec, scale=scale)
        below = f"output of layer {view.layer - 1} {shape(len(recurrent.watched(view).h), recurrent.entering(view))}"
        strip["title:strip"] = strip["title:strip"].but(text=below)
    return strip | frame(
        marks("axis:x", "axis", Place("cell", 0.0, -0.75 * x), w=input_width(view), h=x, text="x"),
        title(Place("hn", -1.1 * x, -1.6 * x), h_n),
        marks("note:hn", "note", Place("hn", 0.0, -0.8 * x), h=0.8 * x, text="original order"),
        title(places.out(view).heading(), f"output data{half} {shape(*recurrent.watched(view).h.shape)}", h=x),
        marks("row", "label", Place("cell", -1.1 * x, places.ranks(view)), b, w=x, text=letters),
        marks("letter", "label", Place("hn", -1.1 * x, view.place[b]), b, w=x, text=letters),
    )


def _below(view: View, b: Column, t: Column) -> np.ndarray:
    """Return the row of the layer below's output in the movie's numbers; NONE where nothing was packed."""
    n = packed_rows.row_at(view)[b, t]
    return np.where(n >= 0, matrices.rows_at(view, "below", n), NONE)


def entering(view: View, k: np.ndarray) -> Marks:
    """Return what enters the cell in the k-th step, on its way from the strip."""
    b, t = view.ranked, time_of(view, np.maximum(k, 0))[:, None]
    number = token_table.numbered(view)[b, t]
    real = number >= 0
    look: dict[str, Any] = {
        "token": number,
        "text": np.where(real, token_table.texts(view)[number], inputs.pad_text(view)),
    }
    look |= {"scale": "state" if view.layer else "input", "shown": places.ranks(view) < live_rows(view)[k + 1]}
    if isinstance(token_table.subtexts(view), np.ndarray):
        look["sub"] = np.where(real, token_table.subtexts(view)[number], "")
    if not view.small and (view.layer or inputs.features(view) > 1):
        look["vec"] = _below(view, b, t) if view.layer else matrices.x_rows(view, b, t)
    place, origin = Place("cell", 0.0, places.ranks(view)), places.strip(view).cell(t, places.ranks(view))
    return marks("in", "token", place, b, w=input_width(view), origin=origin, anew=True, **look)


def outputs(view: View, k: np.ndarray) -> Marks:
    """Return the packed output after the k-th step, each row coming from h."""
    b, t, out = packed_rows.sequence(view), packed_rows.time_step(view), places.out(view)
    look: dict[str, Any] = {
        "token": token_table.numbered(view)[b, t],
        "vec": matrices.rows_at(view, "h", packed_rows.number(view)),
    }
    look |= {"shown": time_of(view, t) <= k[:, None], "origin": Place("h", 0.0, view.rank[b])}
    return marks("out", "output", out.cell(t, view.rank[b]), b, t, w=out.width, h=out.height, **look)


def finals(view: View, k: np.ndarray, unit: float) -> Frame:
    """Return the states that are final after the k-th step: h_n, and the rings around them."""
    b, wide, out, done = view.ranked, state_width(view, unit), places.out(view), ended(view, k)
    units = 1 if view.small else recurrent.units(view)
    rows, column = np.repeat(places.ranks(view), units), np.tile(np.arange(units), len(b)) * unit
    row = Place("h", 0.0, places.ranks(view))
    h_n = state(view, "hn", view.place[b], unit)
    h_n = h_n.but(vec=row_of(view, k)) if view.small else filled(h_n, states(view, "h")[k + 2])
    last, d, at = last_outputs(view)
    reached = done[..., view.rank[last]] & (d == view.direction)
    return frame(
        h_n.but(shown=np.repeat(done, units, -1), origin=Place("h", column, rows)),
        marks("ring:h", "ring", row, b, w=wide, shown=done),
        marks("ring:out", "ring", at, last, d, w=out.width, h=out.height, shown=reached),  # perhaps none of those shown
        marks("ring:hn", "ring", Place("hn", 0.0, view.place[b]), b, w=wide, shown=done, origin=row),
    )


@once
def last_steps(view: View) -> np.ndarray:
    """Return (3, B*D): sequence, direction and time step at which each direction has seen all of the sequence."""
    b = np.repeat(view.shown, recurrent.directions(view))
    d = np.tile(np.arange(recurrent.directions(view)), len(view.shown))
    return np.array([b, d, np.where(d == 1, 0, np.array(view.lengths)[b] - 1)])


@once
def last_outputs(view: View) -> tuple[np.ndarray, np.ndarray, Place]:
    """Return sequence, direction and place of each direction's last output, for the sequences shown."""
    b, d, t = last_steps(view)[:, last_steps(view)[2] < view.columns]
    return b, d, places.out(view).cell(t, view.rank[b])


def row_of(view: View, k: np.ndarray) -> np.ndarray:
    """Return the row of h of every sequence, in sorted order, after the k-th step in the movie's numbers."""
    n = taken(view)[k + 2]
    return np.where(n >= 0, matrices.rows_at(view, "h", n), matrices.rows(view, "h_0") + view.ranked)
