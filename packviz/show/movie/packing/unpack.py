"""Unpacking: the packed output moves back into a grid, filler takes the empty cells, and the sort is undone."""

from collections.abc import Iterator
from math import ceil, sqrt
from typing import Any, Literal, cast

import numpy as np

from packviz.show.movie.layout import Box, Margins, Place, Scene, above, beside, panel
from packviz.show.movie.marks import CodeLine, Frame, Shot, Step, StepSeries, frame, marks, title
from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, matrices, packed_rows, places, recurrent, token_table
from packviz.show.movie.packing.cells import UNIT, last_outputs, last_steps
from packviz.show.movie.packing.readings import reading_steps
from packviz.show.movie.packing.run import run_end
from packviz.show.movie.packing.sheet import edges, focus, outline
from packviz.show.movie.packing.view import View
from packviz.show.movie.packing.words import lost, say
from packviz.show.movie.written import number
from packviz.text import shape

MARGIN = 4.5  # lines of text for the notes on the right at most,
TIGHT = 2.9  # and with two directions on a phone, whose picture would be too wide otherwise
MAX_FLIGHTS = 12  # frames in which the packed output moves back
NO_BREAK = "\u00a0"  # a space at which no line ends


def unpack(view: View) -> Iterator[Shot]:
    """Show the way back, and each sequence's last valid state; in depth, every way to read one.

    The step that shows the contents of the last column is the one of that time step.
    """
    deep, grid = "unpack" in view.deep, places.unpacked(view)
    if deep:
        yield Step(
            say("unpack.before", cell=recurrent.cell(view).upper(), rows=len(view.trace.output)), (run_end(view),)
        )
    if not recurrent.last_layer(view):
        yield Step(_whole_caption(view), (_before(view),))
    full, unsorted, end = _grid(view, view.rank), _grid(view, view.place), grid.columns - 1
    yield _flights(view, full, None if "filler" in full else end)
    if "filler" in full:
        filler = full["filler"]
        coming = filler.but(origin=grid.cell(view.rank[filler.keys[0]], grid.columns + 0.5))
        yield Step(_filler_caption(view), ({**full, "filler": coming},), time=end)
    if deep and (view.trace.total_length is not None or packed_rows.width_out(view) != view.total[1]):
        axis = 1 if inputs.batch_first(view) else 0
        around = outline("mark:width", grid, (0, 0), len(view.shown), grid.columns, tone="now")
        sizes = {
            f"x.size({axis})": view.total[1],
            "lens.max()": max(view.lengths),
            f"out.size({axis})": packed_rows.width_out(view),
        }
        detail = tuple(CodeLine(name, str(size)) for name, size in sizes.items())
        yield Step(_width_caption(view), ({**full, **frame(around)},), detail=detail, name="width")
    if view.order != sorted(view.order):
        yield Step(_unsorted_caption(view), (unsorted,))
    b, d, t = last_steps(view)
    half = grid.width / recurrent.directions(view)
    at = grid.cell(view.place[b], t).moved(d * half, 0.0)
    rings = marks("ring:u", "ring", at, b, d, w=half, shown=t < grid.columns)
    ringed = {**unsorted, **frame(rings)}
    last = {**ringed, **_last(view)}
    tone: Literal["", "wrong"] = "wrong" if packed_rows.packed_pads(view) else ""
    yield Step(_rings_caption(view), (ringed, last), detail=_last_detail(view), tone=tone)
    if deep:
        yield from reading_steps(view, last, _last_width(view))


def _whole_caption(view: View) -> str:
    """Say what the output has besides the states that were watched: those of the top layer, or of both directions."""
    top, size = len(view.trace.layers) - 1, shape(*view.trace.output.shape)
    if not top:
        return say("unpack.directions", size=size)
    key = "unpack.layers" if recurrent.directions(view) == 1 else "unpack.layers_and_directions"
    return say(key, top=top, size=size)


def _column_caption(view: View, t: int) -> str:
    column, size = inputs.time_line(view), view.batch_sizes[t]
    live = view.order[:size]
    if not t:
        return say("unpack.first_column", size=size, column=column, live=live)
    return say("unpack.column", t=t, size=size, column=column, live=live)


def _filler_caption(view: View) -> str:
    value, cells, total = view.trace.padding_value, packed_rows.pads_out(view), view.trace.total_length
    cell = recurrent.cell(view).upper()
    if total is None or total == max(view.lengths):
        return say("unpack.filler", value=value, cells=cells, cell=cell)
    return say("unpack.filler_total", value=value, cells=cells, total=total, cell=cell)


def _width_caption(view: View) -> str:
    T, longest, total = view.total[1], max(view.lengths), view.trace.total_length
    if total is None:
        return say("unpack.width", T=T, width=packed_rows.width_out(view))
    if total == longest:
        return say("unpack.width_longest", total=total)
    return say("unpack.width_of_x" if total == T else "unpack.width_total", total=total, longest=longest)


def _unsorted_caption(view: View) -> str:
    came: list[int] = cast(Any, view.trace.sorted.unsorted_indices).tolist()  # of each sequence, its row before
    moved = next(b for b in (*view.shown.tolist(), *range(len(came))) if came[b] != b)
    return say("unpack.unsorted", indices=came, moved=moved, line=inputs.line(view), came=came[moved])


def _rings_caption(view: View) -> str:
    """Say where each sequence's last state is, and whether it is the final state or the last column."""
    both, wrong = recurrent.directions(view) == 2, sorted(packed_rows.packed_pads(view))
    if wrong:
        return say("unpack.rings_both_lost" if both else "unpack.rings_lost", wrong=wrong, lost=lost(view))
    if both:
        return say("unpack.rings_both").replace("t = 0", "t = 0".replace(" ", NO_BREAK))
    short = [b for b, length in enumerate(view.lengths) if length < packed_rows.width_out(view)]
    if not short:
        return say("unpack.rings")
    last_column = "out[:, -1]" if inputs.batch_first(view) else "out[-1]"
    filler = say("unpack.last_column_filler", short=short, last_column=last_column)
    return f"{say('unpack.rings')} {filler.replace(last_column, last_column.replace(' ', NO_BREAK))}"


def unpack_scene(view: View) -> Scene:
    """Return the scene: the packed output, the grid, and the last valid states."""
    both = recurrent.directions(view) == 2
    if "unpack" not in view.deep:
        return Scene(_ways(view, 2.5 if both else 1.0))
    return Scene(_ways(view, MARGIN), _ways(view, TIGHT if both else MARGIN))


def _ways(view: View, right: float) -> list[Box]:
    """Return the ways to arrange the scene; right: lines of text for the notes."""
    x, out, grid = view.text, places.out(view).box, places.unpacked(view).box(counts=False)
    last = panel("last", _last_width(view), float(len(view.shown)), Margins(1.2 * x, 1.65 * x, right * x, 0.1))
    grids = beside(grid, last, gap=0.5 * x)
    ways = [above(out, grids, gap=0.5 * x), beside(out, grids, gap=x), above(out, grid, last, gap=0.4 * x)]
    if view.transposed:  # time runs down in the strip too
        ways.append(beside(places.out(view).by_step, grids, gap=x))
    return [*ways, grids]


def _last_width(view: View) -> float:
    """Units for the last valid state of a sequence: room for its numbers, more below a wide grid of small cells."""
    if view.small:
        return places.cell_width(view)
    share = 0.6 if recurrent.directions(view) == 1 else 0.5
    unit = max(UNIT, share * sqrt(places.unpacked(view).size[0]))
    return unit * min(view.trace.unpacked.last_valid.shape[1], recurrent.max_units(view))


@once
def _before(view: View) -> Frame:
    """Return the packed output after the run, complete even if only a part was watched."""
    end = dict(run_end(view))
    if recurrent.last_layer(view):
        return end
    out = end["out"]
    b, d, at = last_outputs(view)
    half = places.out(view).width / recurrent.directions(view)
    ring = marks("ring:out", "ring", at.moved(d * half, 0.0), b, d, w=half, h=places.out(view).height)
    return end | {
        "out": out.but(vec=matrices.rows_at(view, "output", packed_rows.number(view))),
        **frame(ring),
        "title:out": end["title:out"].but(text=f"output data {shape(*view.trace.output.shape)}"),
    }


def _flights(view: View, full: Frame, end: int | None) -> StepSeries:
    """Return the empty grid, and how the packed output moves back: one time step after another, or several at once.

    In depth there is a step for every time step: its packed rows, outlined in the strip, move to their column. end: the
    time step of the last one, if it is the one that shows the contents of the last column.
    """
    out, count = places.out(view), len(packed_rows.live(view))
    many = ceil(count / MAX_FLIGHTS)
    around = {name: group for name, group in full.items() if name != "filler"}
    start = out.cell(packed_rows.time_step(view), view.rank[packed_rows.sequence(view)])
    if "unpack" not in view.deep or many > 1:
        flown = many * np.arange(ceil(count / many) + 1)[:, None]
        around["u"] = full["u"].but(shown=packed_rows.time_step(view) < flown, origin=start)
        cell, rows = recurrent.cell(view).upper(), len(view.trace.output)
        flight = say("unpack.flight", cell=cell, rows=rows, column=inputs.time_line(view))
        return StepSeries(around, [Step(flight, time=end, beats=len(flown))])
    step, phase = np.divmod(np.arange(2 * count)[:, None], 2)
    live, steps = packed_rows.live_sizes(view)[step], list[Step]()
    strip = marks("focus:out", "focus", out.cell(step, 0), w=live * out.width, h=out.height)
    looked_at = frame(strip, focus("focus:u", places.unpacked(view), step, live))
    around["u"] = full["u"].but(shown=packed_rows.time_step(view) < step + phase, origin=start)
    for t, size in enumerate(view.batch_sizes[:count]):
        first, column = packed_rows.offsets(view)[t], f":{size}, {t}" if inputs.batch_first(view) else f"{t}, :{size}"
        detail = (CodeLine(f"out[{column}] = output.data[{first}:{first + size}]"),)
        steps.append(Step(_column_caption(view, t), detail=detail, time=end if t == end else None, beats=2))
    return StepSeries({**around, **looked_at}, steps)


def _grid(view: View, row: np.ndarray) -> Frame:
    """Return the whole grid, its rows at these positions: copies of the packed rows of the output, then filler."""
    grid, text, sizes = places.unpacked(view), number(view.trace.padding_value), view.trace.unpacked.output.shape
    rows, t = (np.arange(grid.columns) >= np.array(view.lengths)[view.shown][:, None]).nonzero()
    b = view.shown[rows]
    filler = marks("filler", "pad", grid.cell(row[b], t), b, t, w=grid.width, text=text)
    b, t = packed_rows.sequence(view), packed_rows.time_step(view)
    vec = matrices.rows_at(view, "output", packed_rows.number(view))
    copies = marks(
        "u", "output", grid.cell(row[b], t), b, t, w=grid.width, token=token_table.numbered(view)[b, t], vec=vec
    )
    return {**_before(view), **frame(*edges(view, grid, row, f"out {shape(*sizes)}", "u"), copies, filler)}


def _last(view: View) -> Frame:
    x, bs = view.text, view.shown
    heading = f"last {'packed row' if packed_rows.packed_pads(view) else 'valid step'} = h_n[-1]"
    if recurrent.directions(view) == 2:  # backward, the last step is the first that it reads
        heading = "final states = h_n[-2], h_n[-1]"
    width, row, (b, d, t) = _last_width(view), view.place[bs], last_steps(view)
    half = width / recurrent.directions(view)
    at = Place("last", d * half, view.place[b])
    read = d * places.unpacked(view).width / recurrent.directions(view)
    grid = places.unpacked(view).cell(view.place[b], np.minimum(t, places.unpacked(view).columns)).moved(read, 0.0)
    token = token_table.numbered(view)[b, np.minimum(t, view.total[1] - 1)]
    if recurrent.last_layer(view) and int(t.max()) < view.columns:
        vec = matrices.rows_at(view, "h", packed_rows.row_at(view)[b, t])
    else:
        rows = matrices.halves(view, view.trace.unpacked.last_valid).flatten(0, 1)
        vec = matrices.rows(view, "last", rows) + b * recurrent.directions(view) + d
    return frame(
        title(Place("last", -1.1 * x, -1.6 * x), heading),
        marks("lastlabel", "label", Place("last", -1.1 * x, row), bs, w=x, text=places.letters(view)),
        marks("last", "output", at, b, d, w=half, token=token, vec=vec, origin=grid),
        marks("ring:last", "ring", Place("last", 0.0, row), bs, w=width),
    )


def _last_detail(view: View) -> tuple[CodeLine, ...]:
    sizes = shape(*view.trace.unpacked.last_valid.shape)
    if recurrent.directions(view) == 2:
        return (CodeLine("last = cat((h_n[-2], h_n[-1]), dim=-1)", sizes),)
    rows = f"range({view.total[0]})"
    at = f"out[{rows}, lens - 1]" if inputs.batch_first(view) else f"out[lens - 1, {rows}]"
    return (CodeLine(f"last = {at}", sizes), CodeLine("last == h_n[-1]", sizes))
