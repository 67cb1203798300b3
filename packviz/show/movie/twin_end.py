"""How padded beside packed ends: the outputs in one order, and the two h_n judged."""

from collections.abc import Iterator

from packviz.show.movie.figures import rows_of
from packviz.show.movie.model import Change, Place
from packviz.show.movie.twin import UNPACKED, Twin
from packviz.show.movie.twin_figures import PACKED, SIDES
from packviz.show.movie.twin_steps import enter, note, set_state

__all__ = ["compared", "judged", "unsorted"]


def unsorted(twin: Twin) -> Iterator[Change]:
    """Yield what sends the rows of the packed side back to the order in which they came, and brings its filler."""
    for side in SIDES:
        yield from (Change(name, shown=False) for name in (f"focus:{side}", f"axis:{side}:in"))
        for grid in ("x", "o") if twin.with_outputs else ("x",):
            yield Change(f"axis:{side}{grid}:{twin.times[-1]}", tone="")
        for b in twin.by_rank:
            yield from enter(twin, side, b, None)
    for b in twin.by_rank:
        yield Change(f"mark:h:{b}", shown=False)
        yield from _row_home(twin, b)
        if twin.with_outputs:
            yield from _filler(twin, b)
    if twin.with_outputs:
        yield Change(f"title:{PACKED}o", text=UNPACKED)


def compared(twin: Twin) -> Iterator[Change]:
    """Yield the outlines around what the padded output holds, and the unpacked one does not."""
    if twin.with_outputs:
        for b in twin.by_rank:
            yield from (Change(f"mark:out:{b}:{t}", tone="wrong", shown=True) for t, _ in twin.off_runs(b))


def judged(twin: Twin) -> tuple[list[Change], list[Change]]:
    """Return what shows h_n on both sides, and then which rows of it are the same."""
    finals, verdicts = list[Change](), list[Change]()
    for side, h_n in zip(SIDES, twin.last, strict=True):
        rows = rows_of(h_n[:, : twin.units])
        finals.append(Change(f"title:{side}h", text=twin.last_heading))
        if not twin.direction and twin.columns < twin.total[1]:  # the last time step was not shown
            for b in twin.by_rank:
                finals += set_state(twin, side, b, rows[b])
    for b in twin.by_rank:
        if twin.with_outputs:
            finals += [Change(f"mark:out:{b}:{t}", shown=False) for t, _ in twin.off_runs(b)]
        same, distance = twin.last_same[b], twin.last_apart[b]
        outlined = same or not twin.small  # of small rows only those that are the same: the others have their colour
        mark = Change(f"mark:h:{b}", tone="good" if same else "wrong", shown=outlined)
        verdicts += [note(twin, b, distance, same), mark]
        if not twin.small:
            finals.append(Change(f"ring:{PACKED}:{b}", shown=True))
            if same:
                verdicts[-2] = Change(f"apart:{b}", text="equal", tone="good", shown=True)
    return finals, verdicts


def _row_home(twin: Twin, b: int) -> Iterator[Change]:
    """Yield what moves all that a sequence has on the packed side to its own row."""
    row, grid, out = twin.place[b], twin.grid_of(PACKED), twin.out_of(PACKED)
    yield Change(f"label:{PACKED}x:{b}", place=twin.letter_at(grid.name, row))
    yield from (Change(f"x:{PACKED}:{b}:{t}", place=grid.cell(row, t)) for t in twin.runs(PACKED, b))
    panel = f"{PACKED}h"
    if twin.small:
        yield Change(f"h:{PACKED}:{b}", place=Place(panel, 0, row))
    else:
        yield Change(f"label:{panel}:{b}", place=twin.letter_at(panel, row))
        yield Change(f"ring:{PACKED}:{b}", place=Place(panel, 0, row))
        yield from (Change(f"h:{PACKED}:{b}:{u}", place=twin.unit_at(PACKED, row, u)) for u in range(twin.units))
    if twin.with_outputs:
        yield Change(f"label:{PACKED}o:{b}", place=twin.letter_at(out.name, row))
        yield from (Change(f"out:{PACKED}:{b}:{t}", place=out.cell(row, t)) for t in twin.runs(PACKED, b))


def _filler(twin: Twin, b: int) -> Iterator[Change]:
    out = twin.out_of(PACKED)
    start = out.cell(twin.place[b], out.columns + 0.5)
    yield from (Change(f"filler:{b}:{t}", shown=True, origin=start) for t in range(twin.lengths[b], out.columns))
