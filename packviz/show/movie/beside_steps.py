"""Padded beside packed: the same module on both, a time step at a time, and what that makes of h_n."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from packviz.compute.record import Trace
from packviz.rules.preconditions import check_kind
from packviz.show.movie.beside_grids import At, axes, grids, scale, texts_of, vectors
from packviz.show.movie.beside_words import (
    call_lines,
    far,
    last_lines,
    last_words,
    output_lines,
    output_words,
    row_lines,
    start_words,
    step_words,
)
from packviz.show.movie.cell import filled, units
from packviz.show.movie.data import Movie, made
from packviz.show.movie.facts import Window, number, rounded, watched_layer
from packviz.show.movie.marks import NONE, Frame, Marks, Place, frame, marks
from packviz.show.movie.padded_vs_packed import PACKED, PADDED, SIDES, UNPACKED, Both, both_scene
from packviz.show.movie.step import CodeLine, Stage, Step


def beside(
    trace: Trace,
    *,
    layer: int | None = None,
    direction: int = 0,
    sequences: int = Window().sequences,
    steps: int = Window().steps,
) -> Movie:
    """Return the movie of the same module on the padded batch and on the packed one, in step with each other.

    layer, direction: whose states are watched; the top layer and forward if not said, 1 is backward. Its steps belong
    to the stage run; the last two are named `outputs` and `h_n`. Time goes across, whatever batch_first says.
    sequences, steps: how many of a large batch are shown at most: the longest sequences, the first time steps.

    Raises PackvizError for a layer or direction that this trace does not have, and where torch refused to pack.
    """
    check_kind("trace", trace, Trace, "make one with packviz.trace or packviz.trace_module")
    both = Both(trace, watched_layer(trace, layer, direction), direction, Window(sequences, steps).checked())
    names = both.kind.in_code("n")
    given = "" if both.initial_state == "zeros" else f", {both.kind.in_code('0')}"
    lines = (f"out, {names} = {both.cell}(x{given})", f"output, {names} = {both.cell}(packed{given})")
    played: list[tuple[Stage, Step]] = [("run", step) for step in _steps(both)]
    movie = made(both, _start(both), played, {"run": both_scene(both)}, {"run": CodeLine("\n".join(lines))}, {"run": 0})
    states = (both.trace.h_0, *(half for each in both.padded for half in each))
    largest = max(float(state.abs().nan_to_num(posinf=0.0).amax()) for state in states)
    return replace(
        movie,
        title=f"{movie.title}, padded beside packed",
        scales={**movie.scales, "state": max(movie.scales["state"], largest)},
        proof=f"packed: {movie.proof}",
    )


def _steps(both: Both) -> Iterator[Step]:
    yield Step(start_words(both), (_start(both),), detail=call_lines(both))
    done: list[int] = []
    held = _start(both)
    for t in both.times:
        looked = {name: held[name] for name in held if not name.startswith("focus:")} | _looked_at(both, t)
        fed = {**looked, **_entering(both, t, anew=True)}
        computed = {**looked, **_entering(both, t, anew=False), **_computed(both, t)}
        done.append(t)
        held = {**computed, **_outputs(both, done, _at(both))}
        handed = {**held, **_outputs(both, done, _at(both), origin=True)}
        yield Step(step_words(both, t), (fed, computed, handed), detail=row_lines(both, t), time=t)
    home, filler = _home(both, held)
    outlined = {**home, **_filler(both, origin=False), **_off(both)}
    yield Step(output_words(both), ({**home, **filler}, outlined), detail=output_lines(both), name="outputs")
    yield Step(
        last_words(both), _judged(both, {**home, **_filler(both, origin=False)}), detail=last_lines(both), name="h_n"
    )


def _at(both: Both) -> At:
    return {side: both.row(side) for side in SIDES}


def _start(both: Both) -> dict[str, Marks]:
    """Return both sides before the first time step."""
    at = _at(both)
    start = {side: both.start(side) for side in SIDES}
    return {**grids(both, at), **_states_of(both, start, at), **_none(both)}


def _states_of(both: Both, states: Mapping[str, Tensor], at: At) -> Frame:
    """Return h of both sides, (B,P) each."""
    b, groups = both.ranked, []
    for side in SIDES:
        row = at[side][b]
        if both.small:
            place, vec = Place(f"{side}h", 0.0, row), both.rows_like(states[side][b, : both.units])
            groups.append(marks(f"h:{side}", "vector", place, (b,), seq=b, w=both.state_width, vec=vec))
            continue
        group = units(both, f"h:{side}", f"{side}h", row, both.state_width / both.units, says="h, unit {k}")
        groups.append(filled(group, rounded(states[side][:, : both.units])[b]))
    return frame(*groups)


def _none(both: Both) -> Frame:
    """Return the distances before the first time step: none yet."""
    x = both.text
    groups = []
    if both.small or both.apart_somewhere:
        above = Place(f"{PADDED}h", both.state_width + 0.25 * x, -0.75 * x)
        groups.append(marks("note:apart", "note", above, h=x, text="distance"))
    if both.small:
        groups.append(_distances(both, np.zeros(both.total[0]), np.ones(both.total[0], dtype=bool)))
    return frame(*groups)


def _distances(both: Both, distance: np.ndarray, same: np.ndarray, equal: str = "") -> Marks:
    """Return how far each row of the padded side is from the packed one: in words, or as a colour if small."""
    b, x = both.ranked, both.text
    place = Place(f"{PADDED}h", both.state_width + 0.25 * x, both.place[b])
    if both.small:
        vec = both.rows_like(torch.tensor(np.where(same, 0.0, distance)[b, None]))
        return marks("apart", "vector", place, (b,), seq=b, w=1.6 * x, vec=vec)
    text = np.array([equal if same[each] else f"Δ {far(distance[each])}" for each in both.by_rank], dtype=object)
    tone, shown = np.where(same[b], "good", "wrong"), ~same[b] | bool(equal)
    return marks("apart", "note", place, (b,), seq=b, w=2.0 * x, text=text, tone=tone, shown=shown)


def _looked_at(both: Both, t: int) -> Frame:
    """Return what looks at a time step on both sides."""
    groups = []
    for side in SIDES:
        fed = int((t < both.runs(side)[both.ranked]).sum())
        if fed:
            place, width, height = both.grid_of(side).focus(t, fed)
            groups.append(marks(f"focus:{side}", "focus", place, w=width, h=height))
    lit = np.where(both.ts == t, "now", "")
    return frame(*groups, *(axis.but(tone=lit) for axis in axes(both)))


def _entering(both: Both, t: int, *, anew: bool) -> Frame:
    """Return what each side brings to h, tokens and pads; a packed row that rests gets nothing."""
    groups = []
    for side in SIDES:
        readers = both.pad_readers(side)
        for kind, b in (("in", both.ranked), ("inpad", readers)):
            if not len(b):
                continue
            wanted = both.mask[b, t] if kind == "in" else ~both.mask[b, t]
            shown = (t < both.runs(side)[b]) & wanted
            row = both.row(side)[b]
            origin = both.grid_of(side).cell(row, t) if anew else None
            number = both.token_number[b, t] if kind == "in" else np.full(len(b), NONE)
            look = texts_of(both, number, side) if kind == "inpad" else texts_of(both, np.maximum(number, 0), side)
            look.pop("tone", None)
            groups.append(
                marks(
                    f"{kind}:{side}", "token" if kind == "in" else "pad", Place(f"{side}h", -both.lead_in, row), (b,),
                    seq=b, w=both.input_width, scale=scale(both), vec=vectors(both, side, b, t), shown=shown,
                    origin=origin, anew=anew, **look,
                )
            )  # fmt: skip
    return frame(*groups)


def _computed(both: Both, t: int) -> Frame:
    """Return the new states, and on the padded side which of them come from pads, and how far they have gone."""
    states = {side: both.states(side)[:, t] for side in SIDES}
    groups = {
        **_states_of(both, states, _at(both)),
        "apart": _distances(both, both.apart[:, t], both.same[:, t]),
    }
    if not both.small:
        b = both.ranked
        pads = (t >= both.lens[b]) & ~both.mask[b, t]
        ended = both.lens[b] > 0 if both.direction and t == 0 else (both.lens[b] - 1 <= t) & (not both.direction)
        groups |= {"mark:h": _outlines(both, np.full(len(b), "wrong"), pads), **_rings(both, ended, both.rank)}
    return groups


def _outlines(both: Both, tone: np.ndarray, shown: np.ndarray) -> Marks:
    """Return the outlines around rows of h of the padded side, or beside small cells around their distance."""
    b, x, inset = both.ranked, both.text, both.inset
    start, width = (both.state_width + 0.25 * x, 1.6 * x) if both.small else (0.0, both.state_width)
    place = Place(f"{PADDED}h", start + inset, both.place[b] + inset)
    size: dict[str, Any] = {"w": width - 2 * inset, "h": 1 - 2 * inset}
    return marks("mark:h", "mark", place, (b,), seq=b, tone=tone, shown=shown, **size)


def _rings(both: Both, shown: Any, row: np.ndarray) -> Frame:
    b = both.ranked
    place = Place(f"{PACKED}h", 0.0, row[b])
    return frame(marks(f"ring:{PACKED}", "ring", place, (b,), seq=b, w=both.state_width, shown=shown))


def _outputs(both: Both, done: list[int], at: At, *, origin: bool = False) -> Frame:
    """Return the outputs so far; origin: the new ones on their way from h."""
    if not both.with_outputs:
        return {}
    groups = []
    for side in SIDES:
        grid, (b, t) = both.out_of(side), both.cells(side)
        start = Place(f"{side}h", 0.0, at[side][b]) if origin else None
        groups.append(
            marks(
                f"out:{side}", "output", grid.cell(at[side][b], t), (b, t), seq=b, w=grid.width, origin=start,
                token=both.token_number[b, t], vec=both.state_rows(side, b, t), shown=np.isin(t, done),
            )
        )  # fmt: skip
    return frame(*groups)


def _home(both: Both, held: Frame) -> tuple[Frame, Frame]:
    """Return both sides with their rows in the order in which they came, and the filler on its way."""
    at = dict.fromkeys(SIDES, both.place)
    last = both.times[-1]
    states = {side: both.states(side)[:, last] for side in SIDES}
    gone = ("focus:", "in:", "inpad:", "mark:h")
    still = {name: group for name, group in held.items() if not name.startswith(gone) and not name.endswith(":in")}
    groups = {
        **still,
        **{name: group for name, group in grids(both, at).items() if not name.endswith(":in")},
        **_states_of(both, states, at),
        **_outputs(both, both.times, at),
    }
    if not both.small:
        shown = groups[f"ring:{PACKED}"].shown
        groups |= _rings(both, shown, both.place)
    if both.with_outputs:
        groups[f"title:{PACKED}o"] = groups[f"title:{PACKED}o"].but(text=UNPACKED)
    return groups, _filler(both, origin=True)


def _filler(both: Both, *, origin: bool) -> Frame:
    out = both.out_of(PACKED)
    rows, t = (np.arange(out.columns) >= both.lens[both.ranked][:, None]).nonzero()
    if not both.with_outputs or not len(rows):
        return {}
    b = both.ranked[rows]
    start = out.cell(both.place[b], out.columns + 0.5) if origin else None
    text = number(both.trace.padding_value)
    place = out.cell(both.place[b], t)
    return frame(marks("filler", "pad", place, (b, t), seq=b, w=out.width, text=text, origin=start))


def _off(both: Both) -> Frame:
    """Return the outlines around what the padded output holds, and the unpacked one does not."""
    b, t, count = both.off_runs
    if not both.with_outputs or not len(b):
        return {}
    place = both.out_of(PADDED).cell(both.place[b], t).moved(both.inset, both.inset)
    size: dict[str, Any] = {"w": count * both.output_width - 2 * both.inset, "h": 1 - 2 * both.inset}
    return frame(marks("mark:out", "mark", place, (b, t), seq=b, tone="wrong", **size))


def _judged(both: Both, home: Frame) -> tuple[Frame, Frame]:
    """Return h_n on both sides, and then which rows of it are the same."""
    at, b = dict.fromkeys(SIDES, both.place), both.ranked
    titles = {f"title:{side}h": home[f"title:{side}h"].but(text=both.last_heading) for side in SIDES}
    finals = {**home, **titles, **_states_of(both, dict(zip(SIDES, both.last, strict=True)), at)}
    same = both.last_same[b]
    if not both.small:
        finals |= _rings(both, True, both.place)
    verdicts = {
        "apart": _distances(both, both.last_apart, both.last_same, "equal"),
        # of small rows only those that are the same: the others have their colour
        "mark:h": _outlines(both, np.where(same, "good", "wrong"), same | (not both.small)),
    }
    return finals, {**finals, **verdicts}
