"""What is said where padded stands beside packed: who reads what, and how far it leads them apart."""

from math import isfinite

from packviz.show.movie.figures import number
from packviz.show.movie.twin import Twin
from packviz.show.movie.words import STARTS
from packviz.text import counted, two_digits

__all__ = ["far", "last_words", "output_words", "start_words", "step_words"]


def far(distance: float) -> str:
    """Return a distance as it stands beside a row: two digits that count, or nan and inf."""
    return two_digits(distance) if isfinite(distance) else str(distance)


def start_words(twin: Twin) -> str:
    """Say what the two sides have in common before the first time step."""
    (rows, columns), packed = twin.total, counted(twin.tokens, "packed row")
    cells = counted(rows * columns, "cell")
    start = STARTS.get(twin.initial_state, twin.initial_state)
    states = "h_0 and c_0 are" if twin.cell == "lstm" else "h_0 is"
    first = f"**One {twin.cell.upper()}, the same weights.** The padded side takes all {cells} of x, the packed side "
    end = " Time runs backward." if twin.direction else ""
    return f"{first}{packed}. On both {states} {start}.{end}"


def step_words(twin: Twin, t: int) -> str:
    """Say what happens on both sides at a time step."""
    return f"**t = {t}.** Packed: {_packed(twin, t)} Padded: {_padded(twin, t)}"


def output_words(twin: Twin) -> str:
    """Say how the two outputs compare, where both have one and where only one has."""
    cells = [(b, t) for b in range(twin.total[0]) for t in range(twin.lengths[b])]
    off = [(b, t) for b, t in cells if not twin.same[b][t]]
    places, more = twin.pads_out, twin.total[0] * twin.total[1] - len(cells)
    filler = f" and writes filler {number(twin.trace.padding_value)} into {counted(places, 'place')}" if places else ""
    extra = _extra(twin, places, more) if more else ""
    return f"**pad_packed_sequence** restores the order{filler}{extra}. {_agreement(twin, cells, off)}"


def last_words(twin: Twin) -> str:
    """Say whose h_n is the same on both sides, and how far the others are apart."""
    differ = [b for b in range(twin.total[0]) if not twin.last_same[b]]
    agree = [b for b in range(twin.total[0]) if twin.last_same[b]]
    if not differ:
        return f"**h_n**: {twin.chips(agree)} {_verb(agree, 'agrees', 'agree')}. Here padding changed no final state."
    farthest = max(differ, key=lambda b: _order(twin.last_apart[b]))
    most = f"largest difference **{far(twin.last_apart[farthest])}**"
    whose = "" if len(differ) == 1 else f", in {twin.chips([farthest])}"
    good = f" {twin.chips(agree)} {_verb(agree, 'agrees', 'agree')}." if agree else ""
    return f"**h_n**: {twin.chips(differ)} {_verb(differ, 'differs', 'differ')}, {most}{whose}.{good}"


def _packed(twin: Twin, t: int) -> str:
    fed = [b for b in twin.order if t < twin.lengths[b]]
    idle = [b for b in twin.order if t >= twin.lengths[b]]
    pads = [b for b in fed if not twin.mask[b][t]]
    strays = f", {twin.chips(pads)} with a pad" if pads else ""
    waits = ("waits", "wait") if twin.direction else ("rests", "rest")
    if not fed:
        return f"{twin.chips(idle)} {_verb(idle, *waits)}."
    who = f"{twin.chips(fed)} {_verb(fed, 'is', 'are')} fed{strays}"
    return f"{who}, {twin.chips(idle)} {_verb(idle, *waits)}." if idle else f"{who}."


def _padded(twin: Twin, t: int) -> str:
    idle = [b for b in range(twin.total[0]) if t >= twin.lengths[b]]
    pads = [b for b in idle if not twin.mask[b][t]]
    dropped = [b for b in idle if twin.mask[b][t]]
    if not idle:
        return _same_rows(twin, t)
    told = [text for text in (_reading_pads(twin, t, pads), _dropped(twin, dropped)) if text]
    return f"{_everybody(twin)}; {', and '.join(told)}."


def _everybody(twin: Twin) -> str:
    count = twin.total[0]
    return {1: "it goes on", 2: "both are fed"}.get(count, f"all {count} are fed")


def _reading_pads(twin: Twin, t: int, pads: list[int]) -> str:
    if not pads:
        return ""
    farthest = max(pads, key=lambda b: _order(twin.moved[b][t]))
    by = far(twin.moved[farthest][t])
    if len(pads) == 1:
        return f"{twin.chips(pads)} reads a pad and its state moves by {by} in this step"
    return f"{twin.chips(pads)} read pads and move, {twin.chips([farthest])} farthest, by {by} in this step"


def _dropped(twin: Twin, dropped: list[int]) -> str:
    token = "a token" if len(dropped) == 1 else "tokens"
    return f"{twin.chips(dropped)} {_verb(dropped, 'reads', 'read')} {token} that packing dropped" if dropped else ""


def _same_rows(twin: Twin, t: int) -> str:
    off = [b for b in range(twin.total[0]) if not twin.same[b][t]]
    if not off:
        return "the same, and every state is equal." if twin.total[0] > 1 else "the same, and its state is equal."
    farthest = max(off, key=lambda b: _order(twin.apart[b][t]))
    most = f"{far(twin.apart[farthest][t])} from the packed one"
    if len(off) == 1:
        return f"the same rows, but {twin.chips(off)}'s state is {most}."
    return f"the same rows, but {len(off)} states differ: {twin.chips([farthest])}'s is {most}."


def _extra(twin: Twin, places: int, more: int) -> str:
    only_pads = not any(twin.mask[b][t] for b in range(twin.total[0]) for t in range(twin.lengths[b], twin.total[1]))
    what, there = "of pads" if only_pads else "that packing has not", "there " if places == more else ""
    return f"; {there}the padded output holds {counted(more, 'state')} {what}"


def _agreement(twin: Twin, cells: list[tuple[int, int]], off: list[tuple[int, int]]) -> str:
    rows = counted(len(cells), "packed row")
    if not off:
        return f"All {rows} agree." if len(cells) > 1 else "The one packed row agrees."
    b, t = max(off, key=lambda at: _order(twin.apart[at[0]][at[1]]))
    where = f"by up to **{far(twin.apart[b][t])}**, in {twin.chips([b])} at t = {t}"
    return f"Of the {rows} {len(off)} {'differs' if len(off) == 1 else 'differ'}, {where}."


def _order(distance: float) -> float:
    return distance if distance == distance else float("inf")


def _verb(who: list[int], one: str, many: str) -> str:
    return one if len(who) == 1 else many
