"""The movie of the gradient, padded beside packed: through which cells that of the final states passes."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compute.record import Trace, watched_layer
from packviz.facts.padded_run import padded_back
from packviz.rules.preconditions import check_kind
from packviz.show.movie.data import Movie, made
from packviz.show.movie.layout import Grid, Scene, above, beside
from packviz.show.movie.marks import CodeLine, Frame, Marks, Shot, Step, StepSeries, frame, marks, with_numbers
from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, packed_rows, places, recurrent
from packviz.show.movie.packing.about import about
from packviz.show.movie.packing.beside.pair import PACKED, PADDED, SIDES
from packviz.show.movie.packing.code_lines import program
from packviz.show.movie.packing.sheet import focus, sheet
from packviz.show.movie.packing.view import View, Window, watch
from packviz.show.movie.packing.words import say
from packviz.text import shape


@dataclass(frozen=True, eq=False)
class BothBack:
    """The gradient on both sides. most: by side, (B, T): the largest entry of |∂L/∂h|, 0 where there is no state.

    pads: (B, T) bool: the cells that the lengths do not reach. entered: the largest entry of the gradient of a pad.
    """

    view: View
    most: dict[str, np.ndarray]
    pads: np.ndarray
    entered: float
    made: dict[object, Any] = field(default_factory=dict)


def back_beside(trace: Trace, *, layer: int | None = None, direction: int = 0) -> Movie:
    """Return the movie of the gradient of the final states, padded beside packed, one time step at a time.

    layer, direction: whose states are watched, by default the top layer and 0, forward; 1 is backward. On the padded
    side the final states are those after the padding, as torch returns them in h_n.

    Raises PackvizError for a layer or direction that this trace does not have, or if torch refused to pack.
    """
    check_kind("trace", trace, Trace, "make one with packviz.trace or packviz.trace_module")
    view = watch(trace, *watched_layer(trace, layer, direction), Window(), transposed=False)
    view = replace(view, text=places.line_height(view), gradients=trace.backward())
    padded, entered = padded_back(trace, view.layer, direction)
    assert view.gradients is not None
    states = trace.packed_sequence._replace(data=view.gradients.layers[view.layer][direction].h)
    packed, _ = pad_packed_sequence(states, batch_first=True, total_length=view.total[1])
    pads = ~view.mask
    most = {PADDED: _most(padded), PACKED: _most(packed)}
    both = BothBack(view, most, pads, float(entered[torch.from_numpy(pads)].abs().max()) if pads.any() else 0.0)
    told = about(view)
    largest = max(float(np.nan_to_num(each, posinf=0.0).max()) for each in most.values())
    told = replace(
        told,
        title=f"{recurrent.cell(view).upper()}, padded beside packed, going back",
        scales={**told.scales, "gradient": largest or 1.0},
    )
    code = {"backward": program(view)["backward"]}
    played = [("backward", None, shot) for shot in _steps(both)]
    return made(
        told,
        _start(both),
        played,
        {"backward": _scene(both)},
        code,
        {"backward": 0},
    )


def _most(gradient: Tensor) -> np.ndarray:
    return gradient.abs().amax(-1).numpy()


@once
def _grid(both: BothBack, side: str) -> Grid:
    return replace(places.grid(both.view), name=f"{side}x", transposed=False, below=0.0)


def _scene(both: BothBack) -> Scene:
    boxes = [_grid(both, side).box(counts=False) for side in SIDES]
    return Scene([beside(*boxes, gap=both.view.text), above(*boxes)], [above(*boxes)])


@once
def _start(both: BothBack) -> Frame:
    """Return both grids: all of x, and the tokens that were packed."""
    groups: Frame = {}
    for side in SIDES:
        whole = sheet(both.view, _grid(both, side), both.view.place, f"{side}: largest entry of |∂L/∂h|")
        if side == PACKED:
            whole.pop("pad", None)
        groups |= {f"{side}:{key}": replace(group, name=f"{side}:{key}") for key, group in whole.items()}
    return groups


def _times(both: BothBack) -> list[int]:
    """Return the time steps shown in the order in which the gradient passes."""
    return sorted(range(both.view.columns), reverse=not both.view.direction)


def _steps(both: BothBack) -> Iterator[Shot]:
    yield Step(_start_caption(both), (_start(both),))
    t = np.array(_times(both))[:, None]
    groups = [each for side in SIDES for each in _filled(both, side, t)]
    film = {**_start(both), **frame(*groups)}
    yield StepSeries(film, [_time_step(both, int(each)) for each in t[:, 0]])
    yield Step(_end_caption(both), ({name: group.at(-1) for name, group in film.items()},))


def _start_caption(both: BothBack) -> str:
    """Say what the loss is, and when its gradient meets the pads."""
    view, pads = both.view, inputs.pads(both.view)
    loss = say("back_beside.loss_top") if len(view.trace.layers) > 1 else say("back_beside.loss")
    if not pads:
        return f"{loss} {say('back_beside.no_pads')}"
    read_last = (view.direction == 1) == (inputs.padding_side(view) == "left")
    return f"{loss} {say('back_beside.pads_last' if read_last else 'back_beside.pads_first', pads=pads)}"


def _end_caption(both: BothBack) -> str:
    """Say how many pads have a gradient on either side, and where it goes."""
    view, pads, most = both.view, inputs.pads(both.view), f"{both.entered:.3g}"
    if not pads:
        return say("back_beside.end_without_pads")
    reached, packed = (int((both.pads & (both.most[side] > 0)).sum()) for side in SIDES)
    said = say("back_beside.end", reached=reached, pads=pads, packed=packed or "none")
    if not inputs.embedded(view):
        return f"{said} {say('back_beside.end_input', most=most)}"
    config = view.trace.config
    if config is None or config.padding_idx is None:
        return f"{said} {say('back_beside.end_trains', most=most)}"
    return f"{said} {say('back_beside.end_idx', most=most)}"


def _filled(both: BothBack, side: str, t: np.ndarray) -> Iterator[Marks]:
    """Yield the gradients that have passed after each of the time steps t, (S, 1), and the one in focus."""
    view, grid = both.view, _grid(both, side)
    there = (
        np.ones(view.total, dtype=bool)
        if side == PADDED
        else np.arange(view.total[1]) < np.array(view.lengths)[:, None]
    )
    rows, at = there[view.shown, : view.columns].nonzero()
    b, most = view.shown[rows], both.most[side]
    done = at <= t if view.direction else at >= t
    look: dict[str, Any] = {"w": grid.width, "scale": "gradient", "says": "largest entry of |∂L/∂h|", "shown": done}
    yield with_numbers(marks(f"heat:{side}", "value", grid.cell(rows, at), b, at, **look), most[b, at])
    yield focus(f"focus:{side}", grid, t, len(view.shown))
    wrong = both.pads[b, at]
    if side == PADDED and wrong.any():
        b, rows, at, done = b[wrong], rows[wrong], at[wrong], done[:, wrong]
        reached = done & (most[b, at] > 0)
        yield marks("mark:pads", "mark", grid.cell(rows, at), b, at, w=grid.width, tone="wrong", shown=reached)


def _time_step(both: BothBack, t: int) -> Step:
    view = both.view
    live = [b for b in view.order if t < view.lengths[b]]
    width = recurrent.watched(view).h.shape[1]
    lines = (
        CodeLine(f"padded: h.grad[:, {t}]", shape(view.total[0], width)),
        CodeLine(f"packed: h.grad of t = {t}", shape(len(live), width)),
    )
    return Step(_step_caption(both, t, live), detail=lines, time=t, beats=1)


def _step_caption(both: BothBack, t: int, live: list[int]) -> str:
    """Say through what the gradient passes at a time step, and what it is at a last token."""
    view = both.view
    last = [b for b in live if t == (0 if view.direction else view.lengths[b] - 1)]
    pads = [b for b in range(view.total[0]) if both.pads[b, t] and both.most[PADDED][b, t] > 0]
    if pads:
        most = f"{max(both.most[PADDED][b, t] for b in pads):.3g}"
        said = [say("back_beside.pads", t=t, pads=pads, most=most)]
        if live and not last:
            said.append(say("back_beside.packed_only", live=live))
        elif not last:
            said.append(say("back_beside.packed_none"))
    elif len(live) == view.total[0]:
        said = [say("back_beside.every", t=t)]
    else:
        said = [say("back_beside.only", t=t, live=live)]
    if last:
        b = min(last, key=lambda b: view.lengths[b])
        padded, packed = (f"{both.most[side][b, t]:.3g}" for side in SIDES)
        row, end = packed_rows.noun(view), "first" if view.direction else "last"
        said.append(say("back_beside.last", b=b, last=end, row=row, padded=padded, packed=packed))
    return " ".join(said)
