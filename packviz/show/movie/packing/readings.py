"""The readouts in the stage unpack: what each way to read a vector per sequence reads, and whether that is right."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from packviz.facts.readout import Readout, readouts
from packviz.show.movie.layout import Place
from packviz.show.movie.marks import NONE, CodeLine, Frame, Marks, Step, frame, marks
from packviz.show.movie.packing import matrices, packed_rows, places, recurrent, token_table
from packviz.show.movie.packing.cells import last_steps
from packviz.show.movie.packing.view import View, listed
from packviz.show.movie.packing.words import lost, say
from packviz.text import counted, shape

ARROWS = ("→", "←")
POOLS = ("mean", "max")
BRIEF = re.compile(r"^(mean|max) |/\d+")  # what a note leaves out where it has no room


def reading_steps(view: View, last: Frame, width: float) -> Iterator[Step]:
    """Show every readout available in this run; last: the last valid steps; width: of a state's row, in units."""
    before: Frame = last
    tone: Any = "wrong" if packed_rows.packed_pads(view) else ""
    for readout in filter(lambda each: each.available, readouts(view.trace)):
        outlined = _outlined(view, readout, {name: before[name] for name in before if name != "taken"}, last)
        heading = last["title:last"].but(text=readout.title)
        arriving = {**outlined, "title:last": heading, "last": _given(view, readout, last)}
        before = {**arriving, "last": arriving["last"].but(), **_judged(view, readout, width)}
        yield Step(_caption(view, readout), (outlined, arriving, before), detail=_detail(view, readout), tone=tone)


def _caption(view: View, readout: Readout) -> str:
    pooled, title, reason = readout.key in POOLS, readout.title, readout.reason
    if packed_rows.pads(view):
        key = "unpack.pooled_lost" if pooled else "unpack.reading_lost"
        return say(key, title=title, lost=lost(view))
    if pooled:
        return say("unpack.pooled", title=title, reason=reason)
    return say("unpack.reading_right" if readout.right else "unpack.reading_wrong", title=title, reason=reason)


def _read(view: View, readout: Readout) -> list[list[int]]:
    """Return the time steps read for each sequence in each direction, in the form of `last_steps`."""
    spots = (readout.cells[b] for b in view.shown)
    return [[spot.t for spot in each if spot.half == d] for each in spots for d in range(recurrent.directions(view))]


def _outlined(view: View, readout: Readout, before: Frame, last: Frame) -> Frame:
    """Outline what each half of the readout reads; halves that read the same and look the same share an outline."""
    (b, d, _), D, grid = last_steps(view), recurrent.directions(view), places.unpacked(view)
    read = [[t for t in steps if t < grid.columns] for steps in _read(view, readout)]
    first, count = np.array([steps[0] if steps else 0 for steps in read]), np.array(list(map(len, read)))
    good = [_complete(view, readout, *each) for each in zip(b.tolist(), d.tolist(), strict=True)]
    alike = [len({(*read[i], good[i]) for i in range(start, start + D)}) == 1 for start in range(0, len(read), D)]
    one = np.repeat(alike, D)
    half = np.where(one, grid.width, grid.width / D)  # a direction's numbers: the left or right half of a cell
    at = grid.cell(view.place[b], first).moved(np.where(one, 0.0, d * half), 0.0)
    wide, high = (1, count) if grid.transposed else (count, 1)  # the columns are adjacent
    look: dict[str, Any] = {"w": wide * half, "h": high, "tone": np.where(good, "good", "wrong")}
    outlines = marks("mark:u", "mark", at, b, d, shown=(count > 0) & ~(one & (d > 0)), **look)
    rings, gone = last["ring:u"], ("ring:last", "mark:last", "title:taken")
    still = {name: group for name, group in before.items() if name not in gone}
    return {**still, "ring:u": rings.but(shown=rings.shown & (count < 2)), **frame(outlines)}


def _complete(view: View, readout: Readout, b: int, half: int) -> bool:
    """Return whether a half has read its whole sequence and no pad; for pooled steps, whether there is no filler."""
    if readout.key in POOLS or b in packed_rows.packed_pads(view):
        return b not in readout.wrong
    halves = [spot.half for spot in readout.cells[b]]
    return half in halves and readout.steps[b][halves.index(half)] == view.lengths[b]


def _given(view: View, readout: Readout, last: Frame) -> Marks:
    """Return what is read, moving to its row beside the grid; a half that is not read leaves its place empty.

    If many steps are read, it has no origin and no token.
    """
    assert readout.values is not None
    (b, d, _), D, grid, read = last_steps(view), recurrent.directions(view), places.unpacked(view), _read(view, readout)
    matrix = readout.values.reshape(len(readout.values) * len(readout.halves), -1)[:, : recurrent.max_units(view) // D]
    t, is_read = np.array([steps[0] if len(steps) == 1 else NONE for steps in read]), np.array(list(map(bool, read)))
    token = token_table.numbered(view)[b, np.minimum(t, view.total[1] - 1)]
    token = np.where(t < view.total[1], token, NONE)  # filler is none
    at = grid.cell(view.place[b], t).moved(d * grid.width / D, 0.0)
    seen, half = (t >= 0) & (t < grid.columns), is_read.reshape(-1, D).cumsum(1).ravel() - 1
    origin = Place("u", np.where(seen, at.x, np.nan), at.y)
    vec = np.where(is_read, matrices.rows(view, readout.key, matrix) + b * len(readout.halves) + half, NONE)
    return last["last"].but(vec=vec, token=np.where(t < 0, NONE, token), shown=is_read, origin=origin, anew=True)


def _judged(view: View, readout: Readout, width: float) -> Frame:
    x, row, bs = view.text, view.place[view.shown], view.shown
    tone = np.array(["wrong" if b in readout.wrong else "good" for b in view.shown])
    groups = [marks("mark:last", "mark", Place("last", 0.0, row), bs, w=width, tone=tone)]
    if not view.small:
        beside = Place("last", width + 0.25 * x, row)
        texts = [_taken(view, readout, b) for b in view.shown]
        text, brief = np.array([texts, [BRIEF.sub("", each) for each in texts]], dtype=object)
        groups.append(marks("taken", "note", beside, bs, text=text, sub=brief, tone=tone))
        if readout.key not in POOLS:
            above = Place("last", width + 0.25 * x, -0.75 * x)
            groups.append(marks("title:taken", "note", above, h=x, text="steps taken"))
    return frame(*groups)


def _taken(view: View, readout: Readout, b: int) -> str:
    length = view.lengths[b]
    if readout.key not in POOLS and not any(readout.steps[b]):
        return "padding"
    if b in packed_rows.packed_pads(view):
        return counted(packed_rows.packed_pads(view)[b], "pad")
    if readout.key in POOLS:
        return f"{readout.key} of {length}"
    if recurrent.directions(view) == 1:
        return f"{readout.steps[b][0]} of {length}"
    halves = [spot.half for spot in readout.cells[b]]
    return " ".join(f"{ARROWS[half]}{took}/{length}" for half, took in zip(halves, readout.steps[b], strict=True))


def _detail(view: View, readout: Readout) -> tuple[CodeLine, ...]:
    assert readout.values is not None
    lines = [CodeLine(readout.code, shape(*readout.values.shape))]
    if recurrent.directions(view) == 2 and readout.key not in POOLS:
        steps = [
            f"# {half}: {listed(list(taken))}"
            for half, taken in zip(readout.halves, zip(*readout.steps, strict=True), strict=True)
        ]
        lines.append(CodeLine("\n".join([f"# steps taken, of {listed(view.lengths)}", *steps])))
    if readout.caution:
        lines.append(CodeLine(f"# {readout.caution}"))
    return tuple(lines)
