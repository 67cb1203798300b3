"""The packed output flies back into a grid, filler takes the empty places, and the sort is undone."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Literal

import numpy as np

from packviz.show.movie.facts import number
from packviz.show.movie.layout import Margins, Place, Scene, above, beside, panel
from packviz.show.movie.marks import CodeLine, Frame, Step, frame, marks, title
from packviz.show.movie.readings import MARGIN, readings
from packviz.show.movie.run import run_end
from packviz.show.movie.run_marks import UNIT, last_outputs, last_steps
from packviz.show.movie.sheet import edges, focus, outline
from packviz.show.movie.view import View, once, shape
from packviz.show.movie.words import say

MAX_FLIGHTS = 12  # frames in which the packed output flies back


def unpack(view: View) -> Iterator[Step]:
    """Show the way back, and which state of each sequence is its last valid one; in depth, every way to read one.

    The step that shows what stands in the last column is the one of that time step.
    """
    deep, grid = "unpack" in view.deep, view.unpacked
    if deep:
        yield Step(say("unpack", "before", view), (run_end(view),))
    if not view.last_layer:
        yield Step(say("unpack", "whole", view), (_before(view),))
    full, given, end = _grid(view, view.rank), _grid(view, view.place), grid.columns - 1
    flights, filled = _flights(view, full), None if "filler" in full else end
    if deep and len(view.alive) <= MAX_FLIGHTS:
        yield from _columns(view, flights, filled)
    else:
        yield Step(say("unpack", "flight", view), flights, time=filled)
    if "filler" in full:
        filler = full["filler"]
        coming = filler.but(origin=grid.cell(view.rank[filler.keys[0]], grid.columns + 0.5))
        yield Step(say("unpack", "filler", view), ({**full, "filler": coming},), time=end)
    if deep and (view.trace.total_length is not None or view.width_out != view.total[1]):
        axis, around = 1 if view.batch_first else 0, outline("mark:width", grid, 0, 0, len(view.shown), grid.columns)
        sizes = {f"x.size({axis})": view.total[1], "lens.max()": max(view.lengths), f"out.size({axis})": view.width_out}
        detail = tuple(CodeLine(name, str(size)) for name, size in sizes.items())
        yield Step(say("unpack", "width", view), ({**full, **frame(around)},), detail=detail, name="width")
    if view.order != sorted(view.order):
        yield Step(say("unpack", "unsorted", view), (given,))
    b, d, t = last_steps(view)
    at = grid.cell(view.place[b], t).moved(0.0, d / view.directions)
    rings = marks("ring:u", "ring", at, b, d, w=grid.width, h=1.0 / view.directions, shown=t < grid.columns)
    ringed = {**given, **frame(rings)}
    last = {**ringed, **_last(view)}
    caption = say("unpack", "last", view, short=[b for b, length in enumerate(view.lengths) if length < view.width_out])
    tone: Literal["", "wrong"] = "wrong" if view.packed_pads else ""
    yield Step(caption, (ringed, last), detail=_last_detail(view), tone=tone)
    if deep:
        yield from readings(view, last, _last_width(view))


def unpack_scene(view: View) -> Scene:
    """Return the scene: the packed output, the grid, and the last valid states."""
    x, out, grid = view.text, view.out.box, view.unpacked.box(counts=False)
    right = MARGIN[view.directions] if "unpack" in view.deep else 1.0 if view.directions == 1 else 2.5
    last = panel("last", _last_width(view), float(len(view.shown)), Margins(1.2 * x, 1.65 * x, right * x, 0.1))
    grids = beside(grid, last, gap=0.5 * x)
    return Scene([above(out, grids, gap=0.5 * x), beside(out, grids, gap=x), above(out, grid, last, gap=0.4 * x)])


def _last_width(view: View) -> float:
    """Units for the last valid state of a sequence: room for its numbers, where there is room for any."""
    return view.cell_width if view.small else UNIT * min(view.trace.unpacked.last_valid.shape[1], view.most)


@once
def _before(view: View) -> Frame:
    """Return the packed output: what the run leaves, with the whole of it where only a part was watched."""
    end = dict(run_end(view))
    if view.last_layer:
        return end
    out = end["out"]
    b, d, at = last_outputs(view)
    height = view.out.height / view.directions
    ring = marks("ring:out", "ring", at.moved(0.0, d * height), b, d, w=view.out.width, h=height)
    return end | {
        "out": out.but(vec=view.rows_at("output", view.packed_n)),
        **frame(ring),
        "title:out": end["title:out"].but(text=f"output data {shape(*view.trace.output.shape)}"),
    }


def _flights(view: View, full: Frame) -> tuple[Frame, ...]:
    """Return the empty grid, then a frame a time step; where there are many, several time steps in one."""
    around = {name: group for name, group in full.items() if name not in ("u", "filler")}
    start, most = view.out.cell(view.packed_t, view.rank[view.packed_b]), ceil(len(view.alive) / MAX_FLIGHTS)
    ends = range(most, len(view.alive) + most, most)
    return (around, *({**around, "u": full["u"].but(shown=view.packed_t < end, origin=start)} for end in ends))


def _columns(view: View, flights: Sequence[Frame], end: int | None) -> Iterator[Step]:
    """Show one step for every time step: its packed rows, outlined in the strip, go to their column.

    end: the time step of the last one, where it is the one that shows what stands in the last column.
    """
    before, *after = flights
    out = view.out
    for t, seen in enumerate(after):
        start, size = view.offsets[t], view.batch_sizes[t]
        strip = marks("focus:out", "focus", out.cell(t, 0), w=len(view.alive[t]) * out.width, h=out.height)
        looked_at = frame(strip, focus("focus:u", view.unpacked, t, len(view.alive[t])))
        column = f":{size}, {t}" if view.batch_first else f"{t}, :{size}"
        detail = (CodeLine(f"out[{column}] = output.data[{start}:{start + size}]"),)
        frames = ({**before, **looked_at}, {**seen, **looked_at})
        yield Step(say("unpack", "column", view, t=t), frames, detail=detail, time=end if t == end else None)
        before = seen


def _grid(view: View, row: np.ndarray) -> Frame:
    """Return the whole grid, its rows at these positions: a copy of every packed row of the output, then filler."""
    grid, text, sizes = view.unpacked, number(view.trace.padding_value), view.trace.unpacked.output.shape
    rows, t = (np.arange(grid.columns) >= view.lens[view.bs][:, None]).nonzero()
    b = view.bs[rows]
    filler = marks("filler", "pad", grid.cell(row[b], t), b, t, w=grid.width, text=text)
    b, t, vec = view.packed_b, view.packed_t, view.rows_at("output", view.packed_n)
    copies = marks("u", "output", grid.cell(row[b], t), b, t, w=grid.width, token=view.token_number[b, t], vec=vec)
    return {**_before(view), **frame(*edges(view, grid, row, f"out {shape(*sizes)}", "u"), copies, filler)}


def _last(view: View) -> Frame:
    x, name, bs = view.text, "h_n[-1]" if view.directions == 1 else "cat(h_n[-2], h_n[-1])", view.bs
    heading = f"last {'packed row' if view.packed_pads else 'valid step'} = {name}"
    width, row, (b, d, t) = _last_width(view), view.place[bs], last_steps(view)
    half = width / view.directions
    at = Place("last", d * half, view.place[b])
    grid = view.unpacked.cell(view.place[b], np.minimum(t, view.unpacked.columns)).moved(0.0, d / view.directions)
    token = view.token_number[b, np.minimum(t, view.total[1] - 1)]
    if view.last_layer and int(t.max()) < view.columns:
        vec = view.rows_at("h", view.row_at[b, t])
    else:
        rows = view.halves(view.trace.unpacked.last_valid).flatten(0, 1)
        vec = view.rows("last", rows) + b * view.directions + d
    return frame(
        title(Place("last", -1.1 * x, -1.6 * x), heading),
        marks("lastlabel", "label", Place("last", -1.1 * x, row), bs, w=x, text=view.letters),
        marks("last", "output", at, b, d, w=half, token=token, vec=vec, origin=grid),
        marks("ring:last", "ring", Place("last", 0.0, row), bs, w=width),
    )


def _last_detail(view: View) -> tuple[CodeLine, ...]:
    sizes = shape(*view.trace.unpacked.last_valid.shape)
    if view.directions == 2:
        return (CodeLine("last = cat((h_n[-2], h_n[-1]), dim=-1)", sizes),)
    rows = f"range({view.total[0]})"
    at = f"out[{rows}, lens - 1]" if view.batch_first else f"out[lens - 1, {rows}]"
    return (CodeLine(f"last = {at}", sizes), CodeLine("last == h_n[-1]", sizes))
