"""Who plays where padded stands beside packed: two grids x, two of h, and two of outputs."""

from collections.abc import Iterator
from typing import Literal

from packviz.show.movie.figures import number
from packviz.show.movie.model import Cell, Numbers, Place, Tone
from packviz.show.movie.twin import Twin
from packviz.show.movie.twin_figures import PACKED, PADDED, SIDES

__all__ = ["entering", "twin_cast"]


def twin_cast(twin: Twin) -> Iterator[Cell]:
    """Yield every cell of both sides; what enters, what is outlined and the outputs are hidden at first."""
    for side in SIDES:
        yield from _headings(twin, side)
        for b in twin.by_rank:
            yield from _grid_row(twin, side, b)
            yield from _entrance(twin, side, b)
            yield from _state(twin, side, b)
            if twin.with_outputs:
                yield from _outputs(twin, side, b)
        place, width, height = twin.grid_of(side).focus(0, len(twin.shown))
        yield Cell(f"focus:{side}", "focus", place, width, height, shown=False)
    yield from _verdicts(twin)


def entering(twin: Twin, side: str, b: int, t: int) -> Numbers | None:
    """Return the numbers that enter the watched layer there; None for a single one, which is written out."""
    if twin.small:
        return None
    if twin.layer:
        return twin.below_padded[b][t] if side == PADDED else twin.below[twin.packed_row(b, t)]
    if twin.features == 1 or (twin.raw_vectors and not twin.mask[b][t]):
        return None
    return twin.features_at(b, t)


def _headings(twin: Twin, side: str) -> Iterator[Cell]:
    x, lead = twin.text, twin.lead_in
    grid, out = twin.grid_of(side), twin.out_of(side)
    at = Place(grid.name, -twin.letter - 0.1 * x, grid.heading().y)
    yield Cell(f"title:{side}x", "title", at, text=twin.heading(side, "x"))
    yield Cell(f"title:{side}h", "title", Place(f"{side}h", 0, -1.6 * x), text=twin.heading(side, "h"))
    yield Cell(f"axis:{side}:in", "axis", Place(f"{side}h", -lead, -0.75 * x), twin.input_width, x, text="x")
    for t in range(twin.columns):
        yield Cell(f"axis:{side}x:{t}", "axis", grid.axis(t), grid.width, x, text=f"t={t}")
    if twin.with_outputs:
        at = Place(out.name, -twin.letter - 0.1 * x, out.heading().y)
        yield Cell(f"title:{side}o", "title", at, text=twin.heading(side, "o"))
        for t in range(twin.columns):
            yield Cell(f"axis:{side}o:{t}", "axis", out.axis(t), out.width, x, text=f"t={t}")


def _grid_row(twin: Twin, side: str, b: int) -> Iterator[Cell]:
    """Yield a sequence's row of x: all of it on the padded side, its packed rows on the other."""
    grid, row = twin.grid_of(side), twin.row(side, b)
    yield _letter(twin, grid.name, row, b)
    scale = _scale(twin)
    for t in twin.runs(side, b):
        place, vector = grid.cell(row, t), entering(twin, side, b, t)
        if twin.mask[b][t]:
            text, sub = twin.texts(b, t)
            yield Cell(
                f"x:{side}:{b}:{t}", "token", place, grid.width, text=text, sub=sub, sequence=b,
                token=twin.token_number[b, t], vector=vector, scale=scale,
            )  # fmt: skip
        else:
            tone: Tone = "wrong" if side == PACKED else ""
            text = "pad" if twin.layer else twin.pad_text
            yield Cell(
                f"x:{side}:{b}:{t}", "pad", place, grid.width, text=text, sequence=b, vector=vector, scale=scale,
                tone=tone,
            )  # fmt: skip


def _letter(twin: Twin, panel: str, row: int, b: int) -> Cell:
    place = twin.letter_at(panel, row)
    return Cell(f"label:{panel}:{b}", "label", place, twin.letter, text=twin.label(b), sequence=b)


def _scale(twin: Twin) -> Literal["input", "state"]:
    return "state" if twin.layer else "input"


def _entrance(twin: Twin, side: str, b: int) -> Iterator[Cell]:
    """Yield what enters h: a token, or a pad where this side reads any."""
    panel, row, width = f"{side}h", twin.row(side, b), twin.input_width
    place = Place(panel, -twin.lead_in, row)
    if not twin.small:
        yield _letter(twin, panel, row, b)
    scale = _scale(twin)
    yield Cell(f"in:{side}:{b}", "token", place, width, sequence=b, scale=scale, shown=False)
    if (side, b) in twin.pad_readers:
        yield Cell(f"inpad:{side}:{b}", "pad", place, width, sequence=b, scale=scale, shown=False)


def _state(twin: Twin, side: str, b: int) -> Iterator[Cell]:
    row, start, width = twin.row(side, b), twin.start(side)[b], twin.state_width
    if twin.small:
        yield Cell(f"h:{side}:{b}", "vector", Place(f"{side}h", 0, row), width, sequence=b, vector=start)
    else:
        for unit, value in enumerate(start):
            yield Cell(
                f"h:{side}:{b}:{unit}", "value", twin.unit_at(side, row, unit), width / twin.units,
                sequence=b, value=value if value is not None else 0.0, text="" if value is not None else "nan",
            )  # fmt: skip
    if side == PACKED and not twin.small:
        yield Cell(f"ring:{side}:{b}", "ring", Place(f"{side}h", 0, row), width, sequence=b, shown=False)


def _outputs(twin: Twin, side: str, b: int) -> Iterator[Cell]:
    """Yield the state of every time step that a side computes, and on the packed side the filler between them."""
    grid, row = twin.out_of(side), twin.row(side, b)
    yield _letter(twin, grid.name, row, b)
    for t in twin.runs(side, b):
        yield Cell(
            f"out:{side}:{b}:{t}", "output", grid.cell(row, t), grid.width, sequence=b,
            token=twin.token_number.get((b, t)), vector=twin.held(side, t)[b], shown=False,
        )  # fmt: skip
    if side == PACKED:
        text = number(twin.trace.padding_value)
        for t in range(twin.lengths[b], grid.columns):
            place = grid.cell(twin.place[b], t)
            yield Cell(f"filler:{b}:{t}", "pad", place, grid.width, text=text, sequence=b, shown=False)


def _verdicts(twin: Twin) -> Iterator[Cell]:
    """Yield the outlines and distances of the padded side: what is wrong there, and how far; as colours if small."""
    x, panel, (start, width) = twin.text, f"{PADDED}h", twin.verdict
    if twin.small or twin.apart_somewhere:
        at = Place(panel, twin.state_width + 0.25 * x, -0.75 * x)
        yield Cell("axis:apart", "axis", at, 1.6 * x, x, text="Δ from packed")
    for b in twin.by_rank:
        row, side = twin.place[b], Place(panel, twin.state_width + 0.25 * x, twin.place[b])
        if twin.small:
            yield Cell(f"apart:{b}", "vector", side, width, sequence=b, vector=(0.0,))
        else:
            yield Cell(f"apart:{b}", "note", side, 2.0 * x, sequence=b, shown=False)
        inset = twin.inset
        place = Place(panel, start + inset, row + inset)
        yield Cell(f"mark:h:{b}", "mark", place, width - 2 * inset, 1 - 2 * inset, sequence=b, shown=False)
        if twin.with_outputs:
            for t, steps in twin.off_runs(b):
                first, wide = twin.out_of(PADDED).cell(row, t), steps * twin.output_width - 2 * inset
                place = Place(first.panel, first.x + inset, first.y + inset)
                yield Cell(f"mark:out:{b}:{t}", "mark", place, wide, 1 - 2 * inset, sequence=b, shown=False)
