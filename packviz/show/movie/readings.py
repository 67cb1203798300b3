"""Which one do I want? Every way to read one vector for each sequence, outlined in the unpacked grid and judged."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from packviz.facts.readouts import Readout, Spot, readouts
from packviz.show.movie.figures import rows_of
from packviz.show.movie.film import Film
from packviz.show.movie.model import NO_TOKEN, Cell, Change, CodeLine, Numbers, Place, Tone
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape
from packviz.show.movie.words import lost
from packviz.text import counted

__all__ = ["MARGIN", "readings"]

MARGIN = {1: 2.3, 2: 3.0}  # lines of text that the notes take at the right, by the number of directions
ARROWS = ("→", "←")
POOLS = ("mean", "max")


def readings(film: Film, plan: Plan, width: float) -> None:
    """Film one step for every readout that this run has; width: of the row of a state, in units."""
    film.add(*_marks(plan, width))
    code = index(plan, "unpack")
    for readout in readouts(plan.trace):
        if readout.available:
            tone: Tone = "wrong" if plan.packed_pads else ""
            film.step(
                "unpack",
                _caption(plan, readout),
                code,
                *_beats(plan, readout),
                detail=_detail(plan, readout),
                tone=tone,
            )


def _marks(plan: Plan, width: float) -> Iterator[Cell]:
    x = plan.text
    for b in plan.shown:
        at = plan.unpacked.cell(plan.place[b], 0)
        for d in range(plan.directions):
            yield Cell(f"mark:u:{b}:{d}", "mark", at, plan.unpacked.width, sequence=b, shown=False)
        row = plan.place[b]
        yield Cell(f"mark:last:{b}", "mark", Place("last", 0, row), width, sequence=b, shown=False)
        if not plan.small:
            beside = Place("last", width + 0.25 * x, row)
            yield Cell(f"taken:{b}", "note", beside, text="", sequence=b, shown=False)
    if not plan.small:
        above = Place("last", width + 0.25 * x, -0.75 * x)
        yield Cell("title:taken", "note", above, 1, x, text="steps taken", shown=False)


def _beats(plan: Plan, readout: Readout) -> tuple[list[Change], list[Change], list[Change]]:
    """Return what is outlined in the grid, then what it gives, and then the verdict on every row."""
    outlines, given, verdicts = [Change("title:last", text=readout.title)], list[Change](), list[Change]()
    for b in plan.shown:
        outlines += _outlined(plan, readout, b)
        given += _given(plan, readout, b)
        verdicts += _judged(plan, readout, b)
    if not plan.small:
        verdicts.append(Change("title:taken", shown=readout.key not in POOLS))
    return outlines, given, verdicts


def _outlined(plan: Plan, readout: Readout, b: int) -> Iterator[Change]:
    """Outline what each half of the readout reads; two halves that read alike, and are alike, are outlined as one."""
    yield Change(f"ring:last:{b}", shown=False)
    yield Change(f"mark:last:{b}", shown=False)
    if not plan.small:
        yield Change(f"taken:{b}", shown=False)
    read = {half: _columns(plan, readout, b, half) for half in range(plan.directions)}
    good = {half: _complete(plan, readout, b, half) for half in read}
    one = plan.directions == 1 or (read[0] == read[1] and good[0] == good[1])
    for half, columns in read.items():
        if len(columns) > 1:  # their outline goes around the last valid step as well
            yield Change(f"ring:u:{b}:{half}", shown=False)
        if not columns or (one and half):
            yield Change(f"mark:u:{b}:{half}", shown=False)
            continue
        top, height = (0.0, 1.0) if one else (half / 2, 0.5)
        place, wide, high = _around(plan, plan.place[b], columns, top, height)
        yield Change(
            f"mark:u:{b}:{half}", place=place, w=wide, h=high, tone="good" if good[half] else "wrong", shown=True
        )


def _columns(plan: Plan, readout: Readout, b: int, half: int) -> list[int]:
    """Return the columns that are read for a half and are shown."""
    return [spot.t for spot in readout.cells[b] if spot.half == half and spot.t < plan.unpacked.columns]


def _complete(plan: Plan, readout: Readout, b: int, half: int) -> bool:
    """Return whether a half has read all of its sequence, and no pad; of pooled steps, whether no filler is there."""
    if readout.key in POOLS or b in plan.packed_pads:
        return b not in readout.wrong
    halves = [spot.half for spot in readout.cells[b]]
    return half in halves and readout.steps[b][halves.index(half)] == plan.lengths[b]


def _around(plan: Plan, row: int, columns: Sequence[int], top: float, height: float) -> tuple[Place, float, float]:
    """Return place, width and height of the outline around adjoining columns of a row, or around a half of them."""
    cell, count = plan.unpacked.cell(row, columns[0]), len(columns)
    wide, high = (1, count) if plan.transposed else (count, 1)
    return Place(cell.panel, cell.x, cell.y + top), wide * plan.unpacked.width, high * height


def _given(plan: Plan, readout: Readout, b: int) -> Iterator[Change]:
    """Let what is read fly to its row beside the grid; a half that is not read leaves its place empty."""
    values = _values(plan, readout, b)
    for d in range(plan.directions):
        if d not in values:
            yield Change(f"last:{b}:{d}", shown=False)
            continue
        spots = [spot for spot in readout.cells[b] if spot.half == d]
        yield Change(
            f"last:{b}:{d}", vector=values[d], shown=True, token=_token(plan, spots), origin=_origin(plan, spots)
        )


def _judged(plan: Plan, readout: Readout, b: int) -> Iterator[Change]:
    right = b not in readout.wrong
    yield Change(f"mark:last:{b}", tone="good" if right else "wrong", shown=True)
    if not plan.small:
        yield Change(f"taken:{b}", text=_taken(plan, readout, b), tone="good" if right else "wrong", shown=True)


def _values(plan: Plan, readout: Readout, b: int) -> dict[int, Numbers]:
    """Return by direction the numbers of a sequence that are shown."""
    assert readout.values is not None
    row = readout.values[b].view(len(readout.halves), -1)[:, : plan.most // plan.directions]
    halves = [half for half, _ in groupby(sorted(spot.half for spot in readout.cells[b]))]
    return dict(zip(halves, rows_of(row), strict=True))


def _token(plan: Plan, spots: Sequence[Spot]) -> int:
    """Return the token whose step is read; none where it is filler, or where many steps are read."""
    return plan.token_number.get((spots[0].b, spots[0].t), NO_TOKEN) if len(spots) == 1 else NO_TOKEN


def _origin(plan: Plan, spots: Sequence[Spot]) -> Place | None:
    if len(spots) > 1 or spots[0].t >= plan.unpacked.columns:
        return None
    cell = plan.unpacked.cell(plan.place[spots[0].b], spots[0].t)
    return Place(cell.panel, cell.x, cell.y + spots[0].half / plan.directions)


def _taken(plan: Plan, readout: Readout, b: int) -> str:
    length = plan.lengths[b]
    if readout.key not in POOLS and not any(readout.steps[b]):
        return "filler"
    if b in plan.packed_pads:
        return counted(plan.packed_pads[b], "pad")
    if readout.key in POOLS:
        return f"{readout.key} of {length}"
    if plan.directions == 1:
        return f"{readout.steps[b][0]} of {length}"
    halves = [spot.half for spot in readout.cells[b]]
    return " ".join(f"{ARROWS[half]}{took}/{length}" for half, took in zip(halves, readout.steps[b], strict=True))


def _caption(plan: Plan, readout: Readout) -> str:
    if plan.packed_pads:
        return f"**{readout.title}** is wrong here: **{lost(plan)}**. {readout.reason}"
    if readout.key in POOLS:
        return f"**{readout.title}.** {readout.reason}"
    return f"**{readout.title}** is {'right' if readout.right else 'wrong'} here. {readout.reason}"


def _detail(plan: Plan, readout: Readout) -> tuple[CodeLine, ...]:
    assert readout.values is not None
    lines = [CodeLine(readout.code, shape(*readout.values.shape))]
    if plan.directions == 2 and readout.key not in POOLS:
        noun = "packed rows" if readout.caution else "tokens"
        seen = [
            f"# {half}: {plan.listed(list(rows))}"
            for half, rows in zip(readout.halves, zip(*readout.seen, strict=True), strict=True)
        ]
        lines.append(CodeLine("\n".join([f"# {noun} seen, of {plan.listed(plan.lengths)}", *seen])))
    if readout.caution:
        lines.append(CodeLine(f"# {readout.caution}"))
    return tuple(lines)
