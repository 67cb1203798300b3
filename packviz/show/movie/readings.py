"""Which one do I want? Every way to read one vector for each sequence, outlined in the unpacked grid and judged."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from packviz.facts.readout import Readout, readouts
from packviz.show.movie.layout import Place
from packviz.show.movie.marks import NONE, CodeLine, Frame, Marks, Step, frame, marks
from packviz.show.movie.run_marks import last_steps
from packviz.show.movie.view import View, listed, shape
from packviz.show.movie.words import say
from packviz.text import counted

MARGIN = {1: 2.3, 2: 3.0}  # lines of text that the notes take at the right, by the number of directions
ARROWS = ("→", "←")
POOLS = ("mean", "max")
NAN = float("nan")


def readings(view: View, last: Frame, width: float) -> Iterator[Step]:
    """Show every readout that this run has; last: the last valid steps; width: of the row of a state, in units."""
    before: Frame = last
    tone: Any = "wrong" if view.packed_pads else ""
    for readout in filter(lambda each: each.available, readouts(view.trace)):
        outlined = _outlined(view, readout, {name: before[name] for name in before if name != "taken"}, last)
        outlined = {**outlined, "title:last": last["title:last"].but(text=readout.title)}
        given = {**outlined, "last": _given(view, readout, last)}
        before = {**given, "last": given["last"].but(), **_judged(view, readout, width)}
        caption = say("unpack", "reading", view, way=readout, pooled=readout.key in POOLS)
        yield Step(caption, (outlined, given, before), detail=_detail(view, readout), tone=tone)


def _outlined(view: View, readout: Readout, before: Frame, last: Frame) -> Frame:
    """Outline what each half of the readout reads; two halves that read alike, and are alike, are outlined as one."""
    around: list[tuple[Any, ...]] = []
    for b in view.shown:
        read: list[list[int]] = [
            [] for _ in range(view.directions)
        ]  # the columns that are read for each half and shown
        for spot in readout.cells[b]:
            if spot.t < view.unpacked.columns:
                read[spot.half].append(spot.t)
        good = [_complete(view, readout, b, half) for half in range(view.directions)]
        one = view.directions == 1 or (read[0] == read[1] and good[0] == good[1])
        for half, columns in enumerate(read):
            many = len(columns) > 1  # their outline goes around the last valid step as well
            if not columns or (one and half):
                around.append((0.0, 0.0, 1.0, 1.0, "", False, many))
                continue
            top, height = (0.0, 1.0) if one else (half / 2, 0.5)
            at = view.unpacked.cell(int(view.place[b]), columns[0]).moved(0.0, top)  # the columns adjoin
            wide, high = (1, len(columns)) if view.transposed else (len(columns), 1)
            tone, width = "good" if good[half] else "wrong", wide * view.unpacked.width
            around.append((at.x, at.y, width, high * height, tone, True, many))
    x, y, w, h, tones, shown, several = (np.array(column) for column in zip(*around, strict=True))
    b, d, _ = last_steps(view)
    outlines = marks("mark:u", "mark", Place("u", x, y), b, d, w=w, h=h, tone=tones, shown=shown)
    rings, gone = last["ring:u"], ("ring:last", "mark:last", "title:taken")
    still = {name: group for name, group in before.items() if name not in gone}
    return {**still, "ring:u": rings.but(shown=rings.shown & ~several), **frame(outlines)}


def _complete(view: View, readout: Readout, b: int, half: int) -> bool:
    """Return whether a half has read all of its sequence, and no pad; of pooled steps, whether no filler is there."""
    if readout.key in POOLS or b in view.packed_pads:
        return b not in readout.wrong
    halves = [spot.half for spot in readout.cells[b]]
    return half in halves and readout.steps[b][halves.index(half)] == view.lengths[b]


def _given(view: View, readout: Readout, last: Frame) -> Marks:
    """Return what is read on its way to its row beside the grid; a half that is not read leaves its place empty.

    Where many steps are read it comes from nowhere and is of no token.
    """
    assert readout.values is not None
    count, rows = len(readout.halves), list[tuple[Any, ...]]()
    matrix = readout.values.reshape(len(readout.values) * count, -1)[:, : view.most // view.directions]
    start = view.rows(readout.key, matrix)
    for b in view.shown:
        halves = sorted({spot.half for spot in readout.cells[b]})
        for d in range(view.directions):
            spots = [spot for spot in readout.cells[b] if spot.half == d]
            at, token = Place("u", NAN, NAN), NONE
            if len(spots) == 1 and (t := spots[0].t) < view.unpacked.columns:
                at = view.unpacked.cell(int(view.place[b]), t).moved(0.0, d / view.directions)
            if len(spots) == 1 and (t := spots[0].t) < view.total[1]:  # else it is filler
                token = int(view.token_number[b, t])
            rows.append((start + b * count + halves.index(d) if spots else NONE, token, at.x, at.y, bool(spots)))
    vec, tokens, x, y, shown = (np.array(column) for column in zip(*rows, strict=True))
    return last["last"].but(vec=vec, token=tokens, shown=shown, origin=Place("u", x, y), anew=True)


def _judged(view: View, readout: Readout, width: float) -> Frame:
    x, row, bs = view.text, view.place[view.bs], view.bs
    tone = np.array(["wrong" if b in readout.wrong else "good" for b in view.shown])
    groups = [marks("mark:last", "mark", Place("last", 0.0, row), bs, w=width, tone=tone)]
    if not view.small:
        beside = Place("last", width + 0.25 * x, row)
        text = np.array([_taken(view, readout, b) for b in view.shown], dtype=object)
        groups.append(marks("taken", "note", beside, bs, text=text, tone=tone))
        if readout.key not in POOLS:
            above = Place("last", width + 0.25 * x, -0.75 * x)
            groups.append(marks("title:taken", "note", above, h=x, text="steps taken"))
    return frame(*groups)


def _taken(view: View, readout: Readout, b: int) -> str:
    length = view.lengths[b]
    if readout.key not in POOLS and not any(readout.steps[b]):
        return "filler"
    if b in view.packed_pads:
        return counted(view.packed_pads[b], "pad")
    if readout.key in POOLS:
        return f"{readout.key} of {length}"
    if view.directions == 1:
        return f"{readout.steps[b][0]} of {length}"
    halves = [spot.half for spot in readout.cells[b]]
    return " ".join(f"{ARROWS[half]}{took}/{length}" for half, took in zip(halves, readout.steps[b], strict=True))


def _detail(view: View, readout: Readout) -> tuple[CodeLine, ...]:
    assert readout.values is not None
    lines = [CodeLine(readout.code, shape(*readout.values.shape))]
    if view.directions == 2 and readout.key not in POOLS:
        noun = "packed rows" if readout.caution else "tokens"
        seen = [
            f"# {half}: {listed(list(rows))}"
            for half, rows in zip(readout.halves, zip(*readout.seen, strict=True), strict=True)
        ]
        lines.append(CodeLine("\n".join([f"# {noun} seen, of {listed(view.lengths)}", *seen])))
    if readout.caution:
        lines.append(CodeLine(f"# {readout.caution}"))
    return tuple(lines)
