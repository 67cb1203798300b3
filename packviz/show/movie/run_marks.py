"""What every run shows, however deep: rows enter, states change, and copies of them go to the output and to h_n."""

from typing import Any

import numpy as np

from packviz.compute.recurrence import Step as TimeStep
from packviz.show.movie.cell import filled, heading, input_width, state, state_width
from packviz.show.movie.marks import NONE, Frame, Marks, Place, frame, marks
from packviz.show.movie.pack import lit, packed
from packviz.show.movie.view import View, once, shape

START = -2  # in the place of a step: no row was taken yet; -1 stands for the steps that are left out before the first


@once
def run_steps(view: View) -> list[TimeStep]:
    """Return the time steps that are shown, in the order in which the cell takes them."""
    steps = (view.watched.step(k) for k in range(view.watched.steps))
    return [step for step in steps if step.t < view.columns]


@once
def live(view: View) -> np.ndarray:
    """Return (steps + 1, B): which of the sequences, in sorted order, are live in each step; none before the first."""
    sizes = [0, *(len(step.live) for step in run_steps(view))]
    return np.arange(len(view.by_rank)) < np.array(sizes)[:, None]


@once
def ended(view: View) -> np.ndarray:
    """Return (steps + 1, B): which of the sequences, in sorted order, have taken their last step after each."""
    t, last = np.array([[step.t] for step in run_steps(view)]), view.lens[view.ranked] - 1
    return np.concatenate([[last < 0], (t == 0) & (last >= 0) if view.direction else last <= t])


@once
def taken(view: View) -> np.ndarray:
    """Return (steps + 2, B): the packed row that each sequence, in sorted order, has taken last, or NONE.

    The first line is the start, the second stands before the first step that is shown.
    """
    steps, b = run_steps(view), np.arange(len(view.by_rank))
    rows = np.full((len(steps) + 2, len(b)), NONE)
    rows[1, : len(view.taken_n)] = view.taken_n
    for k, step in enumerate(steps):
        rows[k + 2] = np.where(live(view)[k + 1], step.start + b, rows[k + 1])
    return rows


@once
def states(view: View, name: str) -> np.ndarray:
    """Return (steps + 2, B, units): h or c of every sequence, in sorted order; the lines are those of `taken`."""
    n = taken(view)
    start = view.matrix(f"{name}_0")[view.ranked]
    found: np.ndarray = np.where((n >= 0)[..., None], view.matrix(name)[view.slot[n]], start)
    return found


def base(view: View, t: int | None) -> Frame:
    """Return the packed rows with a time step looked at, and the headings of the run."""
    seen = _base(view)
    return seen if t is None else lit(view, seen, t)


@once
def _base(view: View) -> Frame:
    x, batch, size = view.text, view.total[0], view.watched.h.shape[1]
    row = view.layer * view.directions + view.direction
    h_n = f"h_n[{-1 if row == len(view.trace.h_n) - 1 else row}] {shape(batch, size)}"
    b, rank = view.ranked, np.arange(len(view.by_rank))
    strip = packed(view, len(view.alive) - 1)
    if view.layer:  # what stands in the strip there: the output of the layer below
        known = [name for name in ("token", "stray") if name in strip]
        below: Frame = {name: _raised(view, strip[name]) for name in known}
        title = f"output of layer {view.layer - 1} {shape(len(view.watched.h), view.entering)}"
        strip = {**strip, **below, "title:strip": strip["title:strip"].but(text=title)}
    return strip | frame(
        marks("axis:x", "axis", Place("cell", 0.0, -0.75 * x), w=input_width(view), h=x, text="x"),
        heading("hn", Place("hn", -1.1 * x, -1.6 * x), h_n),
        marks("note:hn", "note", Place("hn", 0.0, -0.8 * x), h=0.8 * x, text="original order"),
        heading("out", view.out.heading(), f"output data {shape(*view.watched.h.shape)}", x),
        marks("row", "label", Place("cell", -1.1 * x, rank), (b,), seq=b, w=x, text=view.letters_ranked),
        marks("letter", "label", Place("hn", -1.1 * x, view.place[b]), (b,), seq=b, w=x, text=view.letters_ranked),
    )


def _raised(view: View, group: Marks) -> Marks:
    """Return packed rows with the output of the layer below in them; what was not packed stays as it is."""
    rows = _below(view, *group.keys)
    kept = group.look["vec"]
    return group.but(vec=np.where(rows >= 0, rows, kept), scale=np.where(rows >= 0, "state", "input"))


def _below(view: View, b: Any, t: Any) -> np.ndarray:
    n = view.row_at[b, t]
    return np.where(n >= 0, view.rows_at("below", n), NONE)


def entering(view: View, k: int, *, anew: bool) -> Marks:
    """Return what enters the cell in the k-th step; anew: on its way from the strip."""
    still = _entered(view)[k]
    if not anew:
        return still
    return still.but(origin=view.strip.cell(run_steps(view)[k].t, np.arange(still.count)), anew=True)


@once
def _entered(view: View) -> list[Marks]:
    """Return what enters the cell in each step."""
    b, t = view.ranked, np.array([[step.t] for step in run_steps(view)])
    number = view.token_number[b, t]  # (steps, B)
    real = number >= 0
    columns = {"token": number, "text": np.where(real, view.token_text[number], view.pad_text)}
    if isinstance(view.token_sub, np.ndarray):
        columns["sub"] = np.where(real, view.token_sub[number], "")
    if not view.small and (view.layer or view.features > 1):
        columns["vec"] = _below(view, b, t) if view.layer else view.x_rows(b, t)
    place, scale = Place("cell", 0.0, np.arange(len(b))), "state" if view.layer else "input"
    entrance = marks("in", "token", place, (b,), seq=b, w=input_width(view), scale=scale)
    looks = [dict(zip(columns, rows, strict=True)) for rows in zip(*columns.values(), strict=True)]
    return [entrance.but(shown=fed, **look) for fed, look in zip(live(view)[1:], looks, strict=True)]


@once
def _outputs(view: View) -> Marks:
    b, t = view.packed_b, view.packed_t
    place = view.out.cell(t, view.rank[b])
    return marks(
        "out", "output", place, (b, t), seq=b, w=view.out.width, h=view.out.height, token=view.token_number[b, t],
        vec=view.rows_at("h", view.packed_n),
    )  # fmt: skip


@once
def outputs(view: View, k: int, *, origin: bool = False) -> Marks:
    """Return the packed output after the k-th step; origin: its new rows on their way from h."""
    t, now = view.packed_t, run_steps(view)[k].t if k >= 0 else NONE
    done = np.zeros(len(t), dtype=bool) if k < 0 else (t >= now if view.direction else t <= now)
    return _outputs(view).but(shown=done, origin=Place("h", 0.0, view.rank[view.packed_b]) if origin else None)


@once
def finals(view: View, k: int, unit: float, *, origin: bool = False) -> Frame:
    """Return the states that are final after the k-th step: h_n, and the rings around them; origin: on their way."""
    done, rank = ended(view)[k + 1], np.arange(len(view.by_rank))
    if k > 0 and not (done ^ ended(view)[k]).any():
        return finals(view, k - 1, unit)
    still, units = _finals(view, unit), 1 if view.small else view.units
    column = np.tile(np.arange(units), len(rank)) * unit
    starts = (Place("h", column, np.repeat(rank, units)), Place("h", 0.0, rank)) if origin else (None, None)
    hn = still["hn"]
    filled_in = hn.but(vec=row_of(view, k)) if view.small else filled(hn, states(view, "h")[k + 2])
    groups = [
        filled_in.but(shown=np.repeat(done, units), origin=starts[0]),
        still["ring:h"].but(shown=done),
        still["ring:hn"].but(shown=done, origin=starts[1]),
    ]
    if "ring:out" in still:  # none of them may be within the time steps that are shown
        row, d = still["ring:out"].keys
        groups.insert(2, still["ring:out"].but(shown=done[view.rank[row]] & (d == view.direction)))
    return frame(*groups)


@once
def _finals(view: View, unit: float) -> Frame:
    b, wide = view.ranked, state_width(view, unit)
    row, d, at = last_outputs(view)
    rank = np.arange(len(b))
    return frame(
        state(view, "hn", view.place[b], unit),
        marks("ring:h", "ring", Place("h", 0.0, rank), (b,), seq=b, w=wide),
        marks("ring:out", "ring", at, (row, d), seq=row, w=view.out.width, h=view.out.height),
        marks("ring:hn", "ring", Place("hn", 0.0, view.place[b]), (b,), seq=b, w=wide),
    )


@once
def last_steps(view: View) -> np.ndarray:
    """Return (3, B*D): sequence, direction and time step at which each direction has seen all of the sequence."""
    b, d = np.repeat(view.bs, view.directions), np.tile(np.arange(view.directions), len(view.bs))
    return np.array([b, d, np.where(d == 1, 0, view.lens[b] - 1)])


@once
def last_outputs(view: View) -> tuple[np.ndarray, np.ndarray, Place]:
    """Return sequence, direction and place of what each direction put out last, of those that are shown."""
    b, d, t = last_steps(view)[:, last_steps(view)[2] < view.columns]
    return b, d, view.out.cell(t, view.rank[b])


def row_of(view: View, k: int) -> np.ndarray:
    """Return where in the movie's numbers h of every sequence, in sorted order, stands after the k-th step."""
    n = taken(view)[k + 2]
    return np.where(n >= 0, view.rows_at("h", n), view.rows("h_0") + view.ranked)
