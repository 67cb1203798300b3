"""Which one do I want? Every way to read one vector for each sequence, outlined in the unpacked grid and judged."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from packviz.facts.readout import Readout, Spot, readouts
from packviz.show.movie.marks import NONE, Frame, Place, frame, marks
from packviz.show.movie.run_marks import last_steps
from packviz.show.movie.step import CodeLine, Step
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
    for readout in readouts(view.trace):
        if readout.available:
            outlined = _outlined(view, readout, {name: before[name] for name in before if name != "taken"}, last)
            outlined = {**outlined, "title:last": last["title:last"].but(text=readout.title)}
            given = {**outlined, "last": _given(view, readout, last)}
            before = {**given, "last": given["last"].but(), **_judged(view, readout, width)}
            tone: Any = "wrong" if view.packed_pads else ""
            frames = outlined, given, before
            yield Step(
                say("unpack", "reading", view, way=readout, pooled=readout.key in POOLS),
                frames,
                detail=_detail(view, readout),
                tone=tone,
            )


def _outlined(view: View, readout: Readout, before: Frame, last: Frame) -> dict[str, Any]:
    """Outline what each half of the readout reads; two halves that read alike, and are alike, are outlined as one."""
    around: list[tuple[Any, ...]] = []
    ringed: list[bool] = []
    for row in view.shown:
        read = {half: _columns(view, readout, row, half) for half in range(view.directions)}
        good = {half: _complete(view, readout, row, half) for half in read}
        one = view.directions == 1 or (read[0] == read[1] and good[0] == good[1])
        for half, columns in read.items():
            ringed.append(len(columns) <= 1)  # the outline of several goes around the last valid step as well
            if not columns or (one and half):
                around.append((0.0, 0.0, 1.0, 1.0, "", False))
                continue
            top, height = (0.0, 1.0) if one else (half / 2, 0.5)
            at, wide, high = _around(view, int(view.place[row]), columns, top, height)
            around.append((at.x, at.y, wide, high, "good" if good[half] else "wrong", True))
    x, y, w, h, tone, shown = (np.array(column) for column in zip(*around, strict=True))
    b, d, _ = last_steps(view)
    outlines = marks("mark:u", "mark", Place("u", x, y), (b, d), seq=b, w=w, h=h, tone=tone, shown=shown)
    rings = last["ring:u"]
    gone = ("ring:last", "mark:last", "title:taken")
    still = {name: group for name, group in before.items() if name not in gone}
    return {**still, "ring:u": rings.but(shown=np.logical_and(rings.shown, ringed)), **frame(outlines)}


def _columns(view: View, readout: Readout, b: int, half: int) -> list[int]:
    """Return the columns that are read for a half and are shown."""
    return [spot.t for spot in readout.cells[b] if spot.half == half and spot.t < view.unpacked.columns]


def _complete(view: View, readout: Readout, b: int, half: int) -> bool:
    """Return whether a half has read all of its sequence, and no pad; of pooled steps, whether no filler is there."""
    if readout.key in POOLS or b in view.packed_pads:
        return b not in readout.wrong
    halves = [spot.half for spot in readout.cells[b]]
    return half in halves and readout.steps[b][halves.index(half)] == view.lengths[b]


def _around(view: View, row: int, columns: Sequence[int], top: float, height: float) -> tuple[Place, float, float]:
    """Return place, width and height of the outline around adjoining columns of a row, or around a half of them."""
    cell, count = view.unpacked.cell(row, columns[0]), len(columns)
    wide, high = (1, count) if view.transposed else (count, 1)
    return cell.moved(0.0, top), wide * view.unpacked.width, high * height


def _given(view: View, readout: Readout, last: Frame) -> Any:
    """Return what is read on its way to its row beside the grid; a half that is not read leaves its place empty."""
    assert readout.values is not None
    count = len(readout.halves)
    matrix = readout.values.reshape(len(readout.values) * count, -1)[:, : view.most // view.directions]
    start = view.rows(readout.key, matrix)
    rows = []
    for b in view.shown:
        halves = sorted({spot.half for spot in readout.cells[b]})
        for d in range(view.directions):
            spots = [spot for spot in readout.cells[b] if spot.half == d]
            place = start + b * count + halves.index(d) if spots else NONE
            rows.append((place, _token(view, b, spots), *_origin(view, b, spots), bool(spots)))
    vec, token, x, y, shown = (np.array(column) for column in zip(*rows, strict=True))
    return last["last"].but(vec=vec, token=token, shown=shown, origin=Place("u", x, y), anew=True)


def _origin(view: View, b: int, spots: Sequence[Spot]) -> tuple[float, float]:
    if len(spots) != 1 or spots[0].t >= view.unpacked.columns:
        return NAN, NAN
    cell = view.unpacked.cell(int(view.place[b]), spots[0].t)
    return float(cell.x), float(cell.y + spots[0].half / view.directions)


def _token(view: View, b: int, spots: Sequence[Spot]) -> int:
    """Return the token whose step is read; none where it is filler, or where many steps are read."""
    if len(spots) != 1 or spots[0].t >= view.total[1]:
        return NONE
    return int(view.token_number[b, spots[0].t])


def _judged(view: View, readout: Readout, width: float) -> Frame:
    """Return the verdict on every row, and the steps that it has taken."""
    x, row, bs = view.text, view.place[view.bs], view.bs
    tone = np.array(["wrong" if b in readout.wrong else "good" for b in view.shown])
    groups = [marks("mark:last", "mark", Place("last", 0.0, row), (bs,), seq=bs, w=width, tone=tone)]
    if not view.small:
        beside = Place("last", width + 0.25 * x, row)
        text = np.array([_taken(view, readout, b) for b in view.shown], dtype=object)
        groups.append(marks("taken", "note", beside, (bs,), seq=bs, text=text, tone=tone))
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
