"""The packed output flies back into a grid, filler takes the empty places, and the sort is undone."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any, Literal

import numpy as np

from packviz.show.movie.cell import UNIT
from packviz.show.movie.facts import number
from packviz.show.movie.layout import Box, Margins, Scene, above, beside, panel
from packviz.show.movie.marks import Frame, Marks, Place, frame, marks
from packviz.show.movie.readings import MARGIN, readings
from packviz.show.movie.run import run_end
from packviz.show.movie.run_marks import last_outputs, last_steps
from packviz.show.movie.sheet import edges, focus
from packviz.show.movie.step import CodeLine, Step
from packviz.show.movie.view import View, once, shape
from packviz.show.movie.words import say

MAX_FLIGHTS = 12  # frames in which the packed output flies back


def unpack(view: View) -> Iterator[Step]:
    """Show the way back, and which state of each sequence is its last valid one; in depth, every way to read one.

    The step that shows what stands in the last column is the one of that time step.
    """
    deep = "unpack" in view.deep
    if deep:
        yield Step(say("unpack", "before", view), (run_end(view),))
    if not view.last_layer:
        yield Step(say("unpack", "whole", view), (_before(view),))
    end, filler = view.unpacked.columns - 1, len(_filler_places(view)[0]) > 0
    flights = tuple(_flights(view))
    if deep and len(view.alive) <= MAX_FLIGHTS:
        yield from _columns(view, flights, None if filler else end)
    else:
        yield Step(say("unpack", "flight", view), flights, time=None if filler else end)
    full = _grid(view, view.rank)
    if filler:
        yield Step(say("unpack", "filler", view), ({**full, "filler": _coming(view, full["filler"])},), time=end)
    if deep and (view.trace.total_length is not None or view.width_out != view.total[1]):
        yield _width(view, full)
    given = _grid(view, view.place)
    if view.order != sorted(view.order):
        yield Step(say("unpack", "unsorted", view), (given,))
    tone: Literal["", "wrong"] = "wrong" if view.packed_pads else ""
    ringed = {**given, **_rings(view)}
    short = [b for b, length in enumerate(view.lengths) if length < view.width_out]
    yield Step(
        say("unpack", "last", view, short=short),
        (ringed, {**ringed, **_last(view)}),
        detail=_last_detail(view),
        tone=tone,
    )
    if deep:
        yield from readings(view, {**ringed, **_last(view)}, _last_width(view))


def unpack_scene(view: View) -> Scene:
    """Return the scene: the packed output, the grid, and the last valid states."""
    x, out, grid, last = view.text, view.out.box, view.unpacked.box(counts=False), _last_box(view)
    grids = beside(grid, last, gap=0.5 * x)
    return Scene([above(out, grids, gap=0.5 * x), beside(out, grids, gap=x), above(out, grid, last, gap=0.4 * x)])


def _last_box(view: View) -> Box:
    x, right = view.text, 1.0 if view.directions == 1 else 2.5
    right = MARGIN[view.directions] if "unpack" in view.deep else right
    return panel("last", _last_width(view), float(len(view.shown)), Margins(1.2 * x, 1.65 * x, right * x, 0.1))


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
    ring = marks("ring:out", "ring", at.moved(0.0, d * height), (b, d), seq=b, w=view.out.width, h=height)
    return end | {
        "out": out.but(vec=view.rows_at("output", view.packed_n)),
        **frame(ring),
        "title:out": end["title:out"].but(text=f"output data {shape(*view.trace.output.shape)}"),
    }


def _flights(view: View) -> Iterator[Frame]:
    """Yield the empty grid, then a frame a time step; where there are many, several time steps in one."""
    copies, around = _copies(view, view.rank), {**_before(view), **_headings(view, view.rank)}
    yield around
    count, start = len(view.alive), view.out.cell(view.packed_t, view.rank[view.packed_b])
    for first in range(0, count, ceil(count / MAX_FLIGHTS)):
        last = first + ceil(count / MAX_FLIGHTS) - 1
        yield {**around, "u": copies.but(shown=view.packed_t <= last, origin=start)}


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


def _grid(view: View, row: Any) -> dict[str, Marks]:
    """Return the whole grid, its rows at these positions."""
    return {
        **_before(view),
        **_headings(view, row),
        "u": _copies(view, row),
        **({"filler": _filler(view, row)} if len(_filler_places(view)[0]) else {}),
    }


def _headings(view: View, row: Any) -> Frame:
    return frame(*edges(view, view.unpacked, row, f"out {shape(*view.trace.unpacked.output.shape)}", "u"))


def _copies(view: View, row: Any) -> Marks:
    """What pad_packed_sequence writes: a copy of every packed row of the output."""
    b, t = view.packed_b, view.packed_t
    return marks(
        "u", "output", view.unpacked.cell(row[b], t), (b, t), seq=b, w=view.unpacked.width,
        token=view.token_number[b, t], vec=view.rows_at("output", view.packed_n),
    )  # fmt: skip


@once
def _filler_places(view: View) -> tuple[np.ndarray, np.ndarray]:
    lengths = view.lens[view.bs]
    rows, t = (np.arange(view.unpacked.columns) >= lengths[:, None]).nonzero()
    return view.bs[rows], t


def _filler(view: View, row: Any) -> Marks:
    b, t = _filler_places(view)
    text = number(view.trace.padding_value)
    return marks("filler", "pad", view.unpacked.cell(row[b], t), (b, t), seq=b, w=view.unpacked.width, text=text)


def _coming(view: View, filler: Marks) -> Marks:
    start = view.unpacked.cell(view.rank[filler.keys[0]], view.unpacked.columns + 0.5)
    return filler.but(origin=start)


def _rings(view: View) -> Frame:
    b, d, t = last_steps(view)
    height, seen = 1.0 / view.directions, t < view.unpacked.columns
    cell = view.unpacked.cell(view.place[b], t).moved(0.0, d * height)
    return frame(marks("ring:u", "ring", cell, (b, d), seq=b, w=view.unpacked.width, h=height, shown=seen))


def _last(view: View) -> Frame:
    x, name, bs = view.text, "h_n[-1]" if view.directions == 1 else "cat(h_n[-2], h_n[-1])", view.bs
    heading = f"last {'packed row' if view.packed_pads else 'valid step'} = {name}"
    width, row = _last_width(view), view.place[bs]
    b, d, t = last_steps(view)
    grid = view.unpacked.cell(view.place[b], np.minimum(t, view.unpacked.columns)).moved(0.0, d / view.directions)
    return frame(
        marks("title:last", "title", Place("last", -1.1 * x, -1.6 * x), text=heading),
        marks("lastlabel", "label", Place("last", -1.1 * x, row), (bs,), seq=bs, w=x, text=view.letters),
        marks(
            "last", "output", Place("last", d * (width / view.directions), view.place[b]), (b, d), seq=b,
            w=width / view.directions, token=view.token_number[b, np.minimum(t, view.total[1] - 1)],
            vec=_last_rows(view, b, d, t), origin=grid,
        ),
        marks("ring:last", "ring", Place("last", 0.0, row), (bs,), seq=bs, w=width),
    )  # fmt: skip


def _last_rows(view: View, b: np.ndarray, d: np.ndarray, t: np.ndarray) -> Any:
    """Return where in the movie's numbers the last valid state of each direction stands."""
    if view.last_layer and int(t.max()) < view.columns:
        return view.rows_at("h", view.row_at[b, t])
    return view.rows("last", view.halves(view.trace.unpacked.last_valid).flatten(0, 1)) + b * view.directions + d


def _width(view: View, full: Frame) -> Step:
    """Show the width of the output, where it is not simply that of the padded grid."""
    grid = view.unpacked
    mark = marks("mark:width", "mark", grid.cell(0, 0), w=grid.size[0], h=grid.size[1], tone="now")
    axis = 1 if view.batch_first else 0
    detail = (
        CodeLine(f"x.size({axis})", str(view.total[1])),
        CodeLine("lens.max()", str(max(view.lengths))),
        CodeLine(f"out.size({axis})", str(view.width_out)),
    )
    return Step(say("unpack", "width", view), ({**full, **frame(mark)},), detail=detail, name="width")


def _last_detail(view: View) -> tuple[CodeLine, ...]:
    sizes = shape(*view.trace.unpacked.last_valid.shape)
    if view.directions == 2:
        return (CodeLine("last = cat((h_n[-2], h_n[-1]), dim=-1)", sizes),)
    rows = f"range({view.total[0]})"
    at = f"out[{rows}, lens - 1]" if view.batch_first else f"out[lens - 1, {rows}]"
    return (CodeLine(f"last = {at}", sizes), CodeLine("last == h_n[-1]", sizes))
