"""Padded beside packed: the same module on both, one time step at a time, and the resulting h_n."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from packviz.compute.record import Trace, watched_layer
from packviz.rules.preconditions import check_kind
from packviz.show.movie.data import Movie, made
from packviz.show.movie.layout import Column, Place
from packviz.show.movie.marks import NONE, CodeLine, Film, Frame, Marks, Role, Shot, filmed, frame, marks, title
from packviz.show.movie.packing.about import about
from packviz.show.movie.packing.cells import filled, units
from packviz.show.movie.packing.facts import Window, number, rounded
from packviz.show.movie.packing.sheet import focus, steps
from packviz.show.movie.packing.two_sides import (
    PACKED,
    PADDED,
    SIDES,
    UNPACKED,
    Both,
    Side,
    both_scene,
    far,
    h_n_step,
    outputs_step,
    start_step,
    time_step,
)
from packviz.show.movie.packing.view import once


def beside(
    trace: Trace,
    *,
    layer: int | None = None,
    direction: int = 0,
    sequences: int = Window().sequences,
    steps: int = Window().steps,
) -> Movie:
    """Return the movie of the same module on the padded and on the packed batch, step by step.

    layer, direction: whose states are watched, by default the top layer and 0, forward; 1 is backward. Its steps belong
    to the stage run; the last two are named `outputs` and `h_n`. Time runs across, whatever batch_first says.
    sequences, steps: at most how many of a large batch are shown: the longest sequences, the first time steps.

    Raises PackvizError for a layer or direction that this trace does not have, or if torch refused to pack.
    """
    check_kind("trace", trace, Trace, "make one with packviz.trace or packviz.trace_module")
    both = Both(trace, watched_layer(trace, layer, direction), direction, Window(sequences, steps).checked())
    names = both.kind.in_code("n")
    initial = "" if both.initial_state == "zeros" else f", {both.kind.in_code('0')}"
    lines = (f"out, {names} = {both.cell}(x{initial})", f"output, {names} = {both.cell}(packed{initial})")
    played = [("run", None, shot) for shot in _steps(both)]
    opening, scenes, code = _start(both), {"run": both_scene(both)}, {"run": CodeLine("\n".join(lines))}
    said = about(both)
    said = replace(said, title=f"{said.title}, padded beside packed", proof=f"packed: {said.proof}")
    return made(said, opening, played, scenes, code, {"run": 0})


def _steps(both: Both) -> Iterator[Shot]:
    yield start_step(both)._replace(frames=(_start(both),))
    film = _film(both)
    yield Film(film, [time_step(both, t) for t in both.times])
    home, filler = _home(both, {name: group.at(-1) for name, group in film.items()}), _filler(both)
    still = {**home, **{name: group.but() for name, group in filler.items()}}
    yield outputs_step(both)._replace(frames=({**home, **filler}, {**still, **_off(both)}))
    yield h_n_step(both)._replace(frames=_judged(both, still))


def _film(both: Both) -> Frame:
    """Return the frames of all time steps, three for each: rows enter, states change, copies of them leave."""
    k, t = np.arange(len(both.times)), np.array(both.times)[:, None]
    rows = [(side, (side.t == t).sum(1, keepdims=True)) for side in both.sides]
    looked_at = frame(
        *(focus(f"focus:{side.name}", side.x, t, count, shown=count > 0) for side, count in rows),
        *(axis.but(tone=np.where(both.ts == t, "now", "")) for axis in _axes(both)),
    )
    computed = {name: group.at(k + 1) for name, group in _computed(both).items()}
    return {
        **_start(both),
        **filmed({**looked_at, **_entering(both, t)}, range(0, 3 * len(k), 3)),
        **filmed(computed, range(1, 3 * len(k), 3)),
        **filmed(_outputs(both, both.sides, k, origin=True), range(2, 3 * len(k), 3)),
    }


@once
def _start(both: Both) -> Frame:
    """Return both sides before the first time step."""
    groups = _grids(both, both.sides) | {name: group.at(0) for name, group in _computed(both).items()}
    if both.small or both.apart_somewhere:
        above = both.beside_h(-0.75 * both.text)
        groups |= frame(marks("note:apart", "note", above, h=both.text, text="distance"))
    return groups


def _grids(both: Both, sides: Sequence[Side]) -> Frame:
    """Return the headings, the letters, and what each side reads: all of x, or its packed rows."""
    x, b, lead, groups = both.text, both.ranked, -both.letter - 0.1 * both.text, list[Marks]()
    for side in sides:
        h, row = f"{side.name}h", side.row[b]
        headings = {"x": Place(side.x.name, lead, side.x.heading().y), "h": Place(h, 0.0, -1.6 * x)}
        labels = {side.x.name: lead} if both.small else {side.x.name: lead, h: lead - both.lead_in}
        if both.with_outputs:
            headings["o"] = Place(side.out.name, lead, side.out.heading().y)
            labels[side.out.name] = lead
        groups += [title(at, both.heading(side.name, name)) for name, at in headings.items()]
        into = Place(h, -both.lead_in, -0.75 * x)
        groups.append(marks(f"axis:{side.name}:in", "axis", into, w=both.input_width, h=x, text="x"))
        for panel, left in labels.items():
            at, text = Place(panel, left, row), both.letters_ranked
            groups.append(marks(f"label:{panel}", "label", at, b, w=both.letter, text=text))
        real = both.mask[side.b, side.t]
        for role, name, which in (("token", "x", real), ("pad", "pad", ~real)):
            rows, t = side.b[which], side.t[which]
            at, tone = side.x.cell(side.row[rows], t), "wrong" if (role, side.name) == ("pad", PACKED) else ""
            groups.append(_read(both, side, name, role, at, rows, t, rows, t, w=side.x.width, tone=tone))
    return frame(*groups, *_axes(both))


def _read(both: Both, side: Side, name: str, role: Any, at: Place, b: Any, t: Any, *keys: Any, **look: Any) -> Marks:
    """Return tokens or pads that a side reads, with the numbers that enter the watched layer."""
    vec: Column = NONE  # a single number is written as text
    if both.layer and not both.small:
        packed = np.maximum(both.row_at[b, t], 0)
        vec = both.below_rows(b, t) if side.name == PADDED else both.rows_at("below", packed)
    elif both.features > 1 and not both.small:
        vec = np.where(both.mask[b, t], both.x_rows(b, t), NONE) if both.raw_vectors else both.x_rows(b, t)
    look |= {"vec": vec, "scale": "state" if both.layer else "input"}
    if role == "pad":
        return marks(f"{name}:{side.name}", role, at, *keys, text="pad" if both.layer else both.pad_text, **look)
    token = np.maximum(both.token_number[b, t], 0)
    sub = both.token_sub[token] if isinstance(both.token_sub, np.ndarray) else ""
    return marks(f"{name}:{side.name}", role, at, *keys, text=both.token_text[token], sub=sub, token=token, **look)


@once
def _axes(both: Both) -> list[Marks]:
    """Return the names of the time steps above what is read, and above the outputs."""
    grids = [side.x for side in both.sides] + [side.out for side in both.sides if both.with_outputs]
    t, text = both.ts, steps(both.columns)
    return [marks(f"axis:{grid.name}", "axis", grid.axis(t), t, w=grid.width, h=both.text, text=text) for grid in grids]


def _states(both: Both, sides: Sequence[Side], states: Sequence[Tensor]) -> Frame:
    """Return h of both sides, (..., B, P) each."""
    b, groups = both.ranked, []
    for side, held in zip(sides, states, strict=True):
        name, panel, row, shown = f"h:{side.name}", f"{side.name}h", side.row[b], held[..., b, : both.units]
        if both.small:
            group = marks(name, "vector", Place(panel, 0.0, row), b, w=both.state_width, vec=both.rows_like(shown))
        else:
            group = units(both, name, panel, row, both.state_width / both.units, says="h, unit {k}")
            group = filled(group, rounded(shown))
        groups.append(group)
    return frame(*groups)


def _distances(both: Both, distance: np.ndarray, same: np.ndarray, equal: str = "") -> Marks:
    """Return how far each row of the padded side is from the packed one, as text, or as a colour if cells are small."""
    x, b, distance, same = both.text, both.ranked, distance[..., both.ranked], same[..., both.ranked]
    place = both.beside_h(both.place[b])
    if both.small:
        vec = both.rows_like(torch.tensor(np.where(same, 0.0, distance)[..., None], device="cpu"))
        return marks("apart", "vector", place, b, w=1.6 * x, vec=vec)
    text = np.where(same, equal, _written(distance))
    return marks(
        "apart", "note", place, b, w=2.0 * x, text=text, tone=np.where(same, "good", "wrong"), shown=~same | bool(equal)
    )


def _entering(both: Both, t: np.ndarray) -> Frame:
    """Return what each side feeds to h, tokens and pads; an ended packed row gets nothing."""
    groups = []
    kinds: tuple[tuple[Role, str], ...] = (("token", "in"), ("pad", "inpad"))
    for side, (role, name) in product(both.sides, kinds):
        b = both.ranked
        if role == "pad":  # only the sequences with a pad among the time steps shown
            b = b[np.isin(b, side.b[~both.mask[side.b, side.t]])]
        shown = (t < side.runs[b]) & (both.mask[b, t] == (role == "token"))
        at, origin = Place(f"{side.name}h", -both.lead_in, side.row[b]), side.x.cell(side.row[b], t)
        group = _read(both, side, name, role, at, b, t, b, w=both.input_width, shown=shown)
        groups.append(group.but(origin=origin, anew=True))
    return frame(*groups)


@once
def _computed(both: Both) -> Frame:
    """Return the states before the first step and after each step, which of them read pads, and their distances."""
    b, times, zero = both.ranked, np.array(both.times), np.zeros((1, both.total[0]))
    held = [torch.cat([side.start[None], side.states[:, times].transpose(0, 1)]) for side in both.sides]
    apart = np.concatenate([zero, both.apart[:, times].T]), np.concatenate([zero == 0, both.same[:, times].T])
    groups = {**_states(both, both.sides, held), "apart": _distances(both, *apart)}
    if not both.small:
        t = np.concatenate([[NONE], times])[:, None]
        pads, last = (t >= both.lens[b]) & ~both.mask[b, t], 0 * b if both.direction else both.lens[b] - 1
        ended = (t >= 0) & (t <= last if both.direction else last <= t)
        groups |= {"mark:h": _outlines(both, np.full(len(b), "wrong"), pads), **_rings(both, ended, both.rank)}
    return groups


def _outlines(both: Both, tone: np.ndarray, shown: np.ndarray) -> Marks:
    """Return the outlines around rows of h on the padded side, or around their distances if cells are small."""
    b, inset, row = both.ranked, both.inset, both.place[both.ranked]
    around = both.beside_h(row) if both.small else Place(f"{PADDED}h", 0.0, row)
    w = 1.6 * both.text if both.small else both.state_width  # numbers reach to the edges of their cells
    return marks("mark:h", "mark", around.moved(0.0, inset), b, tone=tone, shown=shown, w=w, h=1 - 2 * inset)


def _rings(both: Both, shown: Any, row: np.ndarray) -> Frame:
    b = both.ranked
    place = Place(f"{PACKED}h", 0.0, row[b])
    return frame(marks(f"ring:{PACKED}", "ring", place, b, w=both.state_width, shown=shown))


def _outputs(both: Both, sides: Sequence[Side], k: Column, *, origin: bool = False) -> Frame:
    """Return the outputs after the k-th step; origin: the new ones on their way from h."""
    groups = []
    for side in sides if both.with_outputs else ():
        b, t = side.b, side.t
        vec = both.rows(side.name, side.states[:, : both.columns, : both.units].flatten(0, 1)) + b * both.columns + t
        start = Place(f"{side.name}h", 0.0, side.row[b]) if origin else None
        group = marks(f"out:{side.name}", "output", side.out.cell(side.row[b], t), b, t, w=side.out.width, vec=vec)
        shown = (both.columns - 1 - t if both.direction else t) <= np.asarray(k)[..., None]
        groups.append(group.but(token=both.token_number[b, t], shown=shown, origin=start))
    return frame(*groups)


def _home(both: Both, held: Frame) -> Frame:
    """Return both sides with their rows in the original order."""
    gone = ("focus:", "in:", "inpad:", "mark:h")
    groups = {
        **{name: group for name, group in held.items() if not name.startswith(gone)},
        **_grids(both, both.home),
        **_states(both, both.home, [side.states[:, both.times[-1]] for side in both.sides]),
        **_outputs(both, both.home, both.columns),
    }
    groups = {name: group for name, group in groups.items() if not name.endswith(":in")}
    if not both.small:
        groups |= _rings(both, groups[f"ring:{PACKED}"].shown, both.place)
    if both.with_outputs:
        groups[f"title:{PACKED}o"] = groups[f"title:{PACKED}o"].but(text=UNPACKED)
    return groups


def _filler(both: Both) -> Frame:
    out, text = both.sides[1].out, number(both.trace.padding_value)
    rows, t = (np.arange(out.columns) >= both.lens[both.ranked][:, None]).nonzero()
    if not both.with_outputs:
        return {}
    b = both.ranked[rows]
    at, start = (out.cell(both.place[b], column) for column in (t, out.columns + 0.5))
    return frame(marks("filler", "pad", at, b, t, w=out.width, text=text, origin=start))


def _off(both: Both) -> Frame:
    """Return the outlines around what the padded output holds and the unpacked one does not."""
    if not both.with_outputs:
        return {}
    off = (both.ts >= both.lens[:, None]) | ~both.same[:, : both.columns]
    edges = np.diff(off[both.ranked].astype(int), prepend=0, append=0)  # 1 where a run begins, -1 after its end
    (rows, t), (_, end) = (edges == 1).nonzero(), (edges == -1).nonzero()
    b = both.ranked[rows]
    place = both.sides[0].out.cell(both.place[b], t).moved(both.inset, both.inset)
    w = (end - t) * both.output_width - 2 * both.inset
    return frame(marks("mark:out", "mark", place, b, t, tone="wrong", w=w, h=1 - 2 * both.inset))


def _judged(both: Both, home: Frame) -> tuple[Frame, Frame]:
    """Return h_n on both sides, and then which of its rows are the same."""
    titles = {name: home[name].but(text=both.last_heading) for name in (f"title:{side}h" for side in SIDES)}
    finals = {**home, **titles, **_states(both, both.home, both.last)}
    same = both.last_same[both.ranked]
    if not both.small:
        finals |= _rings(both, True, both.place)
    verdicts = {
        "apart": _distances(both, both.last_apart, both.last_same, "equal"),
        # of small rows only the equal ones: the others are coloured
        "mark:h": _outlines(both, np.where(same, "good", "wrong"), same | (not both.small)),
    }
    return finals, {**finals, **verdicts}


@np.vectorize(otypes=[object])
def _written(distance: float) -> str:
    """Return a distance as written beside a row; vectorized over a column."""
    return f"Δ {far(distance)}"
