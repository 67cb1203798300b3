"""What is drawn on the two sides: what each reads, its states and outputs, and what marks their differences."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from packviz.show.movie.format import Role
from packviz.show.movie.layout import Column, Place
from packviz.show.movie.marks import NONE, Frame, Marks, frame, marks, title
from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, matrices, packed_rows, places, recurrent, token_table
from packviz.show.movie.packing.beside.layout import (
    beside_h,
    heading,
    input_width,
    inset,
    lead_in,
    letter,
    with_outputs,
)
from packviz.show.movie.packing.beside.pair import PACKED, PADDED, Pair, Side, state_width
from packviz.show.movie.packing.beside.words import far
from packviz.show.movie.packing.cells import filled, units
from packviz.show.movie.packing.sheet import steps
from packviz.show.movie.written import number, rounded, stored

OUTSIDE = 0.06  # units by which an outline is wider than its numbers, which it does not touch


def grids(both: Pair, sides: Sequence[Side]) -> Frame:
    """Return the headings, the letters, and what each side reads: all of x, or its packed rows."""
    x, b, lead, groups = both.view.text, both.view.ranked, -letter(both) - 0.1 * both.view.text, list[Marks]()
    home = sides is both.home
    for side in sides:
        h, row = f"{side.name}h", side.row[b]
        headings = {"x": Place(side.x.name, lead, side.x.heading().y), "h": Place(h, 0.0, -1.6 * x)}
        labels = {side.x.name: lead} if both.view.small else {side.x.name: lead, h: lead - lead_in(both)}
        if with_outputs(both):
            headings["o"] = Place(side.out.name, lead, side.out.heading().y)
            labels[side.out.name] = lead
        groups += [title(at, heading(both, side.name, name, home=home)) for name, at in headings.items()]
        into = Place(h, -lead_in(both), -0.75 * x)
        groups.append(marks(f"axis:{side.name}:in", "axis", into, w=input_width(both), h=x, text="x"))
        for panel, left in labels.items():
            at, text = Place(panel, left, row), places.letters_ranked(both.view)
            groups.append(marks(f"label:{panel}", "label", at, b, w=letter(both), text=text))
        real = both.view.mask[side.b, side.t]
        for role, name, which in (("token", "x", real), ("pad", "pad", ~real)):
            rows, t = side.b[which], side.t[which]
            at, tone = side.x.cell(side.row[rows], t), "wrong" if (role, side.name) == ("pad", PACKED) else ""
            groups.append(_read(both, side, name, role, at, rows, t, rows, t, w=side.x.width, tone=tone))
    return frame(*groups, *axes(both))


def _read(both: Pair, side: Side, name: str, role: Any, at: Place, b: Any, t: Any, *keys: Any, **look: Any) -> Marks:
    """Return tokens or pads that a side reads, with the numbers that enter the watched layer."""
    vec: Column = NONE  # a single number is written as text
    if both.view.layer and not both.view.small:
        packed = np.maximum(packed_rows.row_at(both.view)[b, t], 0)
        vec = _below_rows(both, b, t) if side.name == PADDED else matrices.rows_at(both.view, "below", packed)
    elif inputs.features(both.view) > 1 and not both.view.small:
        vec = (
            np.where(both.view.mask[b, t], matrices.x_rows(both.view, b, t), NONE)
            if inputs.raw_vectors(both.view)
            else matrices.x_rows(both.view, b, t)
        )
    look |= {"vec": vec, "scale": "state" if both.view.layer else "input"}
    if role == "pad":
        return marks(
            f"{name}:{side.name}",
            role,
            at,
            *keys,
            text="pad" if both.view.layer else inputs.pad_text(both.view),
            **look,
        )
    token = np.maximum(token_table.numbered(both.view)[b, t], 0)
    sub = token_table.subtexts(both.view)[token] if isinstance(token_table.subtexts(both.view), np.ndarray) else ""
    return marks(
        f"{name}:{side.name}", role, at, *keys, text=token_table.texts(both.view)[token], sub=sub, token=token, **look
    )


@once
def axes(both: Pair) -> list[Marks]:
    """Return the names of the time steps above what is read, and above the outputs."""
    grids = [side.x for side in both.sides] + [side.out for side in both.sides if with_outputs(both)]
    t, text = places.time_steps(both.view), steps(both.view.columns)
    return [
        marks(f"axis:{grid.name}", "axis", grid.axis(t), t, w=grid.width, h=grid.axis_height, text=text)
        for grid in grids
    ]


def states(both: Pair, sides: Sequence[Side], states: Sequence[Tensor]) -> Frame:
    """Return h of both sides, (..., B, P) each."""
    b, groups = both.view.ranked, []
    width, count = state_width(both.view), recurrent.units(both.view)
    for side, held in zip(sides, states, strict=True):
        name, panel, row = f"h:{side.name}", f"{side.name}h", side.row[b]
        shown = held[..., b, :count]
        if both.view.small:
            group = marks(name, "vector", Place(panel, 0.0, row), b, w=width, vec=_rows_like(both, shown))
        else:
            group = units(both.view, name, panel, row, width / count, says="h, unit {k}")
            group = filled(group, rounded(shown))
        groups.append(group)
    return frame(*groups)


def distances(both: Pair, row: np.ndarray, distance: np.ndarray, same: np.ndarray, equal: str = "") -> Marks:
    """Return how far each row of the padded side is from the packed one, as text, or as a colour if cells are small."""
    x, b = both.view.text, both.view.ranked
    distance, same = distance[..., b], same[..., b]
    place = beside_h(both, row[b])
    if both.view.small:
        vec = _rows_like(both, torch.tensor(np.where(same, 0.0, distance)[..., None], device="cpu"))
        return marks("apart", "vector", place, b, w=1.6 * x, vec=vec)
    text = np.where(same, equal, _written(distance))
    return marks(
        "apart", "note", place, b, w=2.0 * x, text=text, tone=np.where(same, "good", "wrong"), shown=~same | bool(equal)
    )


def entering(both: Pair, t: np.ndarray) -> Frame:
    """Return what each side feeds to h, tokens and pads; an ended packed row gets nothing."""
    groups = []
    kinds: tuple[tuple[Role, str], ...] = (("token", "in"), ("pad", "inpad"))
    for side, (role, name) in product(both.sides, kinds):
        b = both.view.ranked
        if role == "pad":  # only the sequences with a pad among the time steps shown
            b = b[np.isin(b, side.b[~both.view.mask[side.b, side.t]])]
        shown = (t < side.runs[b]) & (both.view.mask[b, t] == (role == "token"))
        at, origin = Place(f"{side.name}h", -lead_in(both), side.row[b]), side.x.cell(side.row[b], t)
        group = _read(both, side, name, role, at, b, t, b, w=input_width(both), shown=shown)
        groups.append(group.but(origin=origin, anew=True))
    return frame(*groups)


def outlines(both: Pair, row: np.ndarray, tone: np.ndarray, shown: np.ndarray) -> Marks:
    """Return the outlines around rows of h on the padded side, or around their distances if cells are small."""
    b, row = both.view.ranked, row[both.view.ranked]
    look: dict[str, Any] = {"tone": tone, "shown": shown}
    if both.view.small:
        edge = inset(both)
        return marks(
            "mark:h", "mark", beside_h(both, row).moved(0.0, edge), b, w=1.6 * both.view.text, h=1 - 2 * edge, **look
        )
    around = Place(f"{PADDED}h", -OUTSIDE, row)  # numbers reach to the edges of their cells
    return marks("mark:h", "mark", around, b, w=state_width(both.view) + 2 * OUTSIDE, **look)


def rings(both: Pair, shown: Any, row: np.ndarray) -> Frame:
    b = both.view.ranked
    place = Place(f"{PACKED}h", 0.0, row[b])
    return frame(marks(f"ring:{PACKED}", "ring", place, b, w=state_width(both.view), shown=shown))


def outputs(both: Pair, sides: Sequence[Side], k: Column, *, origin: bool = False) -> Frame:
    """Return the outputs after the k-th step; origin: the new ones on their way from h."""
    groups = []
    for side in sides if with_outputs(both) else ():
        b, t = side.b, side.t
        vec = (
            matrices.rows(
                both.view, side.name, side.states[:, : both.view.columns, : recurrent.units(both.view)].flatten(0, 1)
            )
            + b * both.view.columns
            + t
        )
        start = Place(f"{side.name}h", 0.0, side.row[b]) if origin else None
        group = marks(f"out:{side.name}", "output", side.out.cell(side.row[b], t), b, t, w=side.out.width, vec=vec)
        shown = (both.view.columns - 1 - t if both.view.direction else t) <= np.asarray(k)[..., None]
        groups.append(group.but(token=token_table.numbered(both.view)[b, t], shown=shown, origin=start))
    return frame(*groups)


def filler(both: Pair) -> Frame:
    out, text = both.sides[1].out, number(both.view.trace.padding_value)
    rows, t = (np.arange(out.columns) >= np.array(both.view.lengths)[both.view.ranked][:, None]).nonzero()
    if not with_outputs(both):
        return {}
    b = both.view.ranked[rows]
    at, start = (out.cell(both.view.place[b], column) for column in (t, out.columns + 0.5))
    return frame(marks("filler", "pad", at, b, t, w=out.width, text=text, origin=start))


def off(both: Pair) -> Frame:
    """Return the outlines around what the padded output holds and the unpacked one does not."""
    if not with_outputs(both):
        return {}
    off = (places.time_steps(both.view) >= np.array(both.view.lengths)[:, None]) | ~both.same[:, : both.view.columns]
    edges = np.diff(off[both.view.ranked].astype(int), prepend=0, append=0)  # 1 where a run begins, -1 after its end
    (rows, t), (_, end) = (edges == 1).nonzero(), (edges == -1).nonzero()
    b = both.view.ranked[rows]
    place = both.sides[0].out.cell(both.view.place[b], t).moved(inset(both), inset(both))
    w = (end - t) * both.sides[0].out.width - 2 * inset(both)
    return frame(marks("mark:out", "mark", place, b, t, tone="wrong", w=w, h=1 - 2 * inset(both)))


@np.vectorize(otypes=[object])
def _written(distance: float) -> str:
    """Return a distance as written beside a row; vectorized over a column."""
    return f"Δ {far(distance)}"


def _rows_like(both: Pair, matrix: Tensor) -> np.ndarray:
    """Return the positions of these rows in the movie's numbers; equal rows are stored once."""
    found, numbers = [], both.view.numbers
    for row in stored(rounded(matrix.flatten(0, -2))):
        key = ("row", *row)
        if key not in both.made:
            both.made[key] = len(numbers)
            numbers.append(row)
        found.append(both.made[key])
    return np.array(found).reshape(matrix.shape[:-1])


def _below_rows(both: Pair, b: Column, t: Column) -> Column:
    """Return the positions in the movie's numbers of what enters a higher layer on the padded side."""
    view, halves = both.view, both.padded[both.view.layer - 1]
    each = torch.cat([half[..., : recurrent.max_units(view) // len(halves)] for half in halves], 2)
    return matrices.rows(view, "padded below", each[:, : view.columns].flatten(0, 1)) + b * view.columns + t
