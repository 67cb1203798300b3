"""One time step of padded beside packed: what enters, what becomes of h, and what goes to the output."""

from collections.abc import Iterator
from math import isfinite

from packviz.show.movie.model import NO_TOKEN, Change, Numbers, Place
from packviz.show.movie.states import set_units
from packviz.show.movie.twin import Twin
from packviz.show.movie.twin_cast import entering
from packviz.show.movie.twin_figures import PACKED, SIDES
from packviz.show.movie.twin_words import far

__all__ = ["compute", "enter", "feed", "hand_out", "note", "set_state"]


def feed(twin: Twin, t: int, previous: int | None) -> Iterator[Change]:
    """Yield what looks at a time step on both sides and brings it to h; a packed row that rests gets nothing."""
    for side in SIDES:
        fed = [b for b in twin.by_rank if t in twin.runs(side, b)]
        place, width, height = twin.grid_of(side).focus(t, len(fed))
        yield Change(f"focus:{side}", place=place, w=width, h=height or 1.0, shown=bool(fed))
        for grid in ("x", "o") if twin.with_outputs else ("x",):
            if previous is not None:
                yield Change(f"axis:{side}{grid}:{previous}", tone="")
            yield Change(f"axis:{side}{grid}:{t}", tone="now")
        for b in twin.by_rank:
            yield from enter(twin, side, b, t if b in fed else None)


def enter(twin: Twin, side: str, b: int, t: int | None) -> Iterator[Change]:
    """Yield what brings time step t of a sequence to h, a token or a pad; None takes away what stood there."""
    kinds = {True: f"in:{side}:{b}", False: f"inpad:{side}:{b}"}
    if (side, b) not in twin.pad_readers:
        del kinds[False]
    read = None if t is None else twin.mask[b][t]
    for real, name in kinds.items():
        if t is None or real != read:
            yield Change(name, shown=False)
            continue
        text, sub = twin.texts(b, t) if real else ("pad" if twin.layer else twin.pad_text, "")
        yield Change(
            name, shown=True, origin=twin.grid_of(side).cell(twin.row(side, b), t), text=text, sub=sub,
            vector=entering(twin, side, b, t), token=twin.token_number.get((b, t), NO_TOKEN) if real else None,
        )  # fmt: skip


def compute(twin: Twin, t: int) -> Iterator[Change]:
    """Yield the new states, and on the padded side which of them come from pads, and how far they have gone."""
    for side in SIDES:
        held = twin.held(side, t)
        for b in (b for b in twin.by_rank if t in twin.runs(side, b)):
            yield from set_state(twin, side, b, held[b])
    for b in twin.by_rank:
        yield note(twin, b, twin.apart[b][t], twin.same[b][t])
        if not twin.small:
            pads = t >= twin.lengths[b] and not twin.mask[b][t]
            ended = t == 0 if twin.direction else t == twin.lengths[b] - 1
            yield Change(f"mark:h:{b}", tone="wrong", shown=pads)
            yield Change(f"ring:{PACKED}:{b}", shown=True if ended else None)


def set_state(twin: Twin, side: str, b: int, state: Numbers) -> Iterator[Change]:
    """Yield what shows a state in the row h of a sequence on a side."""
    if twin.small:
        yield Change(f"h:{side}:{b}", vector=state)
    else:
        yield from set_units(f"h:{side}:{b}", state)


def note(twin: Twin, b: int, distance: float, same: bool) -> Change:
    """Return the distance beside a row of the padded side; a colour where cells are small."""
    if twin.small:
        known = isfinite(distance)
        return Change(f"apart:{b}", vector=(0.0,) if same else (round(distance, 4) if known else None,))
    return Change(f"apart:{b}", text="" if same else f"Δ {far(distance)}", tone="wrong", shown=not same)


def hand_out(twin: Twin, t: int) -> Iterator[Change]:
    """Yield what sends a copy of every new state to the output of its side."""
    if twin.with_outputs:
        for side in SIDES:
            for b in (b for b in twin.by_rank if t in twin.runs(side, b)):
                yield Change(f"out:{side}:{b}:{t}", shown=True, origin=Place(f"{side}h", 0, twin.row(side, b)))
