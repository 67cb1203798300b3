"""The packed output flies back into a grid, filler takes the empty places, and the sort is undone."""

from collections.abc import Iterator, Mapping
from functools import partial
from math import ceil

from packviz.show.movie.cast import UNIT
from packviz.show.movie.figures import number, rows_of
from packviz.show.movie.film import Film
from packviz.show.movie.layout import Box, Margins, above, beside, panel, scene
from packviz.show.movie.model import Cell, Change, CodeLine, Place, Tone
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape
from packviz.show.movie.readings import MARGIN, readings
from packviz.show.movie.width import width
from packviz.show.movie.words import filler_caption, flight_caption, last_caption, unsort_caption, whole_caption
from packviz.text import counted

__all__ = ["unpack"]

MAX_FLIGHTS = 12  # beats in which the packed output flies back


def unpack(film: Film, plan: Plan) -> None:
    """Film the way back, and which state of each sequence is its last valid one; in depth, every way to read one.

    The step that shows what stands in the last column is the one of that time step.
    """
    film.scenes["unpack"] = scene([partial(arrange, plan) for arrange in (_below, _aside, _stacked)])
    film.add(*_labels(plan), *_copies(plan), *_filler(plan), *_last(plan))
    code = index(plan, "unpack")
    if "unpack" in plan.deep:
        film.step("unpack", _before_caption(plan), code)
    if not plan.last_layer:
        film.step("unpack", whole_caption(plan), code, _whole_output(plan))
    end, filler = plan.unpacked.columns - 1, _filler_places(plan)
    film.step("unpack", flight_caption(plan), code, *_flights(plan), time=None if filler else end)
    if filler:
        film.step("unpack", filler_caption(plan), code, _fill(plan), time=end)
    if "unpack" in plan.deep:
        width(film, plan)
    if plan.order != sorted(plan.order):
        film.step("unpack", unsort_caption(plan), code, _rows_to(plan, plan.place))
    tone: Tone = "wrong" if plan.packed_pads else ""
    film.step("unpack", last_caption(plan), code, _rings(plan), _gather(plan), detail=_last_detail(plan), tone=tone)
    if "unpack" in plan.deep:
        readings(film, plan, _last_width(plan))


def _before_caption(plan: Plan) -> str:
    rows = counted(len(plan.trace.output), "row")
    return f"The run has left {rows} of output, in packed order: time step after time step. Where does each belong?"


def _grids(plan: Plan) -> Box:
    return beside(plan.unpacked.box(counts=False), _last_box(plan), gap=0.5 * plan.text)


def _below(plan: Plan, capacity: float) -> Box:
    return above(plan.out.box(capacity), _grids(plan), gap=0.5 * plan.text)


def _stacked(plan: Plan, capacity: float) -> Box:
    return above(plan.out.box(capacity), plan.unpacked.box(counts=False), _last_box(plan), gap=0.4 * plan.text)


def _aside(plan: Plan, capacity: float) -> Box:
    return beside(plan.out.box(capacity), _grids(plan), gap=plan.text)


def _last_box(plan: Plan) -> Box:
    x, right = plan.text, 1.0 if plan.directions == 1 else 2.5
    right = MARGIN[plan.directions] if "unpack" in plan.deep else right
    return panel("last", _last_width(plan), float(len(plan.shown)), Margins(1.2 * x, 1.65 * x, right * x, 0.1))


def _last_width(plan: Plan) -> float:
    """Units for the last valid state of a sequence: room for its numbers, where there is room for any."""
    return plan.cell_width if plan.small else UNIT * min(plan.trace.unpacked.last_valid.shape[1], plan.most)


def _labels(plan: Plan) -> Iterator[Cell]:
    grid, x = plan.unpacked, plan.text
    yield Cell("title:u", "title", grid.heading(), text=f"out {shape(*plan.trace.unpacked.output.shape)}", shown=False)
    for b in plan.shown:
        label, length = grid.label(plan.rank[b]), grid.length(plan.rank[b])
        wide = plan.unpacked.width if plan.transposed else x
        yield Cell(f"ulabel:{b}", "label", label, wide, text=plan.label(b), sequence=b, shown=False)
        said = str(plan.lengths[b])
        yield Cell(f"ulength:{b}", "note", length, text=f"len {said}", sub=said, sequence=b, shown=False)
    wide, high = (x, 1.0) if plan.transposed else (grid.width, x)
    for t in range(grid.columns):
        yield Cell(f"uaxis:{t}", "axis", grid.axis(t), wide, high, text=f"t={t}", shown=False)


def _copies(plan: Plan) -> Iterator[Cell]:
    """What pad_packed_sequence writes: a copy of every packed row of the output."""
    for t, rows in enumerate(plan.alive):
        for b in rows:
            yield Cell(
                f"u:{b}:{t}", "output", plan.unpacked.cell(plan.rank[b], t), plan.unpacked.width, sequence=b,
                token=plan.token_number.get((b, t)), vector=plan.outputs[plan.packed_row(b, t)], shown=False,
            )  # fmt: skip


def _filler_places(plan: Plan) -> list[tuple[int, int]]:
    return [(b, t) for b in plan.shown for t in range(plan.unpacked.columns) if t >= plan.lengths[b]]


def _filler(plan: Plan) -> Iterator[Cell]:
    text = number(plan.trace.padding_value)
    for b, t in _filler_places(plan):
        place = plan.unpacked.cell(plan.rank[b], t)
        yield Cell(f"filler:{b}:{t}", "pad", place, plan.unpacked.width, text=text, sequence=b, shown=False)


def _halves(plan: Plan, b: int) -> Iterator[tuple[int, int, float, float]]:
    """Direction, time step, upper edge and height of what each direction has when it has seen all of a sequence."""
    height = 1.0 / plan.directions
    for d in range(plan.directions):
        yield d, 0 if d else plan.lengths[b] - 1, d * height, height


def _last(plan: Plan) -> Iterator[Cell]:
    x, name = plan.text, "h_n[-1]" if plan.directions == 1 else "cat(h_n[-2], h_n[-1])"
    last = f"last {'packed row' if plan.packed_pads else 'valid step'} = {name}"
    yield Cell("title:last", "title", Place("last", -1.1 * x, -1.6 * x), text=last, shown=False)
    states, width = plan.halves(plan.trace.unpacked.last_valid), _last_width(plan)
    for b in plan.shown:
        row = plan.place[b]
        letter = Place("last", -1.1 * x, row)
        yield Cell(f"lastlabel:{b}", "label", letter, x, text=plan.label(b), sequence=b, shown=False)
        for (d, t, top, height), state in zip(_halves(plan, b), rows_of(states[b]), strict=True):
            cell = plan.unpacked.cell(row, t)
            ring = Place(cell.panel, cell.x, cell.y + top)
            half = Place("last", d * width / plan.directions, row)
            yield Cell(f"ring:u:{b}:{d}", "ring", ring, plan.unpacked.width, height, sequence=b, shown=False)
            yield Cell(
                f"last:{b}:{d}", "output", half, width / plan.directions, sequence=b,
                token=plan.token_number.get((b, t)), vector=state, shown=False,
            )  # fmt: skip
        yield Cell(f"ring:last:{b}", "ring", Place("last", 0, row), width, sequence=b, shown=False)


def _whole_output(plan: Plan) -> Iterator[Change]:
    for t, rows in enumerate(plan.alive):
        for b in rows:
            yield Change(f"out:{b}:{t}", vector=plan.outputs[plan.packed_row(b, t)])
    for b in plan.shown:
        for d, t, top, height in _halves(plan, b):
            if t < plan.columns:
                place = plan.out.cell(t, plan.rank[b])
                half = Place(place.panel, place.x, place.y + top * plan.out.height)
                yield Change(f"ring:out:{b}:{d}", place=half, h=height * plan.out.height, shown=True)
    yield Change("title:out", text=f"output data {shape(*plan.trace.output.shape)}")


def _flights(plan: Plan) -> Iterator[list[Change]]:
    """Yield the empty grid, then a beat a time step; where there are many, several time steps in one."""
    yield list(_empty_grid(plan))
    steps, at_once = len(plan.alive), ceil(len(plan.alive) / MAX_FLIGHTS)
    for first in range(0, steps, at_once):
        yield [change for t in range(first, min(first + at_once, steps)) for change in _column(plan, t)]


def _empty_grid(plan: Plan) -> Iterator[Change]:
    yield Change("title:u", shown=True)
    yield from (Change(f"uaxis:{t}", shown=True) for t in range(plan.unpacked.columns))
    for b in plan.shown:
        yield from (Change(f"ulabel:{b}", shown=True), Change(f"ulength:{b}", shown=True))


def _column(plan: Plan, t: int) -> Iterator[Change]:
    return (Change(f"u:{b}:{t}", shown=True, origin=plan.out.cell(t, plan.rank[b])) for b in plan.alive[t])


def _fill(plan: Plan) -> Iterator[Change]:
    for b, t in _filler_places(plan):
        yield Change(
            f"filler:{b}:{t}", shown=True, origin=plan.unpacked.cell(plan.rank[b], plan.unpacked.columns + 0.5)
        )


def _rows_to(plan: Plan, row: Mapping[int, int]) -> Iterator[Change]:
    grid = plan.unpacked
    for b in plan.shown:
        yield Change(f"ulabel:{b}", place=grid.label(row[b]))
        yield Change(f"ulength:{b}", place=grid.length(row[b]))
        for t in range(grid.columns):
            kind = "u" if t < plan.lengths[b] else "filler"
            yield Change(f"{kind}:{b}:{t}", place=grid.cell(row[b], t))


def _rings(plan: Plan) -> Iterator[Change]:
    for b in plan.shown:
        for d, t, _, _ in _halves(plan, b):
            if t < plan.unpacked.columns:
                yield Change(f"ring:u:{b}:{d}", shown=True)


def _gather(plan: Plan) -> Iterator[Change]:
    yield Change("title:last", shown=True)
    for b in plan.shown:
        yield Change(f"lastlabel:{b}", shown=True)
        for d, t, top, _ in _halves(plan, b):
            place = plan.unpacked.cell(plan.place[b], min(t, plan.unpacked.columns))
            yield Change(f"last:{b}:{d}", shown=True, origin=Place(place.panel, place.x, place.y + top))
        yield Change(f"ring:last:{b}", shown=True)


def _last_detail(plan: Plan) -> tuple[CodeLine, ...]:
    sizes = shape(*plan.trace.unpacked.last_valid.shape)
    if plan.directions == 2:
        return (CodeLine("last = cat((h_n[-2], h_n[-1]), dim=-1)", sizes),)
    rows = f"range({plan.total[0]})"
    at = f"out[{rows}, lens - 1]" if plan.batch_first else f"out[lens - 1, {rows}]"
    return (CodeLine(f"last = {at}", sizes), CodeLine("last == h_n[-1]", sizes))
