"""The movie of a run, padded beside packed: its frames, one time step at a time, and the resulting h_n."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from packviz.compute.record import Trace, watched_layer
from packviz.rules.preconditions import check_kind
from packviz.show.movie.data import Movie, made
from packviz.show.movie.marks import NONE, CodeLine, Frame, Shot, StepSeries, filmed, frame, marks
from packviz.show.movie.once import once
from packviz.show.movie.packing import places, recurrent
from packviz.show.movie.packing.about import about
from packviz.show.movie.packing.beside.layout import (
    beside_h,
    both_scene,
    heading,
    last_heading,
    lead_in,
    result_scene,
    with_outputs,
)
from packviz.show.movie.packing.beside.marks import (
    axes,
    distances,
    entering,
    filler,
    grids,
    off,
    outlines,
    outputs,
    rings,
    states,
)
from packviz.show.movie.packing.beside.pair import PACKED, PADDED, SIDES, Pair, pair
from packviz.show.movie.packing.beside.words import h_n_step, outputs_step, result_step, start_step, time_step
from packviz.show.movie.packing.sheet import focus
from packviz.show.movie.packing.view import Window


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
    to the stage run; the first one is named `result`, the last two are named `outputs` and `h_n`. Time runs across,
    whatever batch_first is.
    sequences, steps: at most how many of a large batch are shown: the longest and the shortest sequences, the
    first time steps.

    Raises PackvizError for a layer or direction that this trace does not have, or if torch refused to pack.
    """
    check_kind("trace", trace, Trace, "make one with packviz.trace or packviz.trace_module")
    both = pair(trace, *watched_layer(trace, layer, direction), Window(sequences, steps).checked())
    names = recurrent.kind(both.view).in_code("n")
    initial = "" if recurrent.initial_state(both.view) == "zeros" else f", {recurrent.kind(both.view).in_code('0')}"
    lines = (
        f"out, {names} = {recurrent.cell(both.view)}(x{initial})",
        f"output, {names} = {recurrent.cell(both.view)}(packed{initial})",
    )
    played = [("run", None, shot) for shot in _steps(both)]
    opening, scenes, code = _start(both), {"run": both_scene(both)}, {"run": CodeLine("\n".join(lines))}
    said = about(both.view, _states_of(both))
    said = replace(said, title=f"{said.title}, padded beside packed", proof=f"packed: {said.proof}")
    return made(said, opening, played, scenes, code, {"run": 0})


def _steps(both: Pair) -> Iterator[Shot]:
    film = _film(both)
    home, filled = _home(both, {name: group.at(-1) for name, group in film.items()}), filler(both)
    still = {**home, **{name: group.but() for name, group in filled.items()}}
    judged = _judged(both, still)
    yield result_step(both)._replace(frames=(_result(both, judged[-1]),), scene=("run:result", result_scene(both)))
    yield start_step(both)._replace(frames=(_start(both),))
    yield StepSeries(film, [time_step(both, t) for t in both.times])
    yield outputs_step(both)._replace(frames=({**home, **filled}, {**still, **off(both)}))
    yield h_n_step(both)._replace(frames=judged)


def _film(both: Pair) -> Frame:
    """Return the frames of all time steps, three for each: rows enter, states change, copies of them leave."""
    k, t = np.arange(len(both.times)), np.array(both.times)[:, None]
    rows = [(side, (side.t == t).sum(1, keepdims=True)) for side in both.sides]
    looked_at = frame(
        *(focus(f"focus:{side.name}", side.x, t, count, shown=count > 0) for side, count in rows),
        *(axis.but(tone=np.where(places.time_steps(both.view) == t, "now", "")) for axis in axes(both)),
    )
    computed = {name: group.at(k + 1) for name, group in _computed(both).items()}
    return {
        **_start(both),
        **filmed({**looked_at, **entering(both, t)}, range(0, 3 * len(k), 3)),
        **filmed(computed, range(1, 3 * len(k), 3)),
        **filmed(outputs(both, both.sides, k, origin=True), range(2, 3 * len(k), 3)),
    }


@once
def _start(both: Pair) -> Frame:
    """Return both sides before the first time step."""
    groups = grids(both, both.sides) | {name: group.at(0) for name, group in _computed(both).items()}
    if both.view.small or _apart_somewhere(both):
        above = beside_h(both, -0.75 * both.view.text)
        groups |= frame(marks("note:apart", "note", above, h=both.view.text, text="difference"))
    return groups


@once
def _computed(both: Pair) -> Frame:
    """Return the states before the first step and after each step, which of them read pads, and their distances."""
    b, times, zero = both.view.ranked, np.array(both.times), np.zeros((1, both.view.total[0]))
    held = [torch.cat([side.start[None], side.states[:, times].transpose(0, 1)]) for side in both.sides]
    apart = np.concatenate([zero, both.apart[:, times].T]), np.concatenate([zero == 0, both.same[:, times].T])
    groups = {**states(both, both.sides, held), "apart": distances(both, both.view.rank, *apart)}
    if not both.view.small:
        t = np.concatenate([[NONE], times])[:, None]
        lengths = np.array(both.view.lengths)[b]
        pads = (t >= lengths) & ~both.view.mask[b, t]
        last = 0 * b if both.view.direction else lengths - 1
        ended = (t >= 0) & (t <= last if both.view.direction else last <= t)
        groups |= {
            "mark:h": outlines(both, both.view.rank, np.full(len(b), "wrong"), pads),
            **rings(both, ended, both.view.rank),
        }
    return groups


def _home(both: Pair, held: Frame) -> Frame:
    """Return both sides with their rows in the original order, and the letters of h where rows have entered."""
    gone = ("focus:", "in:", "inpad:", "mark:h")
    groups = {
        **{name: group for name, group in held.items() if not name.startswith(gone)},
        **grids(both, both.home),
        **states(both, both.home, [side.states[:, both.times[-1]] for side in both.sides]),
        **outputs(both, both.home, both.view.columns),
        "apart": held["apart"].but(y=both.view.place[both.view.ranked]),
    }
    groups = {name: group for name, group in groups.items() if not name.endswith(":in")}
    if not both.view.small:
        labels = (f"label:{side}h" for side in SIDES)
        groups |= {name: groups[name].but(x=groups[name].look["x"] + lead_in(both)) for name in labels}
        groups |= rings(both, groups[f"ring:{PACKED}"].shown, both.view.place)
    if with_outputs(both):  # once it is unpacked, it is what the padded run has: out
        groups[f"title:{PACKED}o"] = groups[f"title:{PACKED}o"].but(text=heading(both, PADDED, "o"))
    return groups


def _judged(both: Pair, home: Frame) -> tuple[Frame, Frame]:
    """Return h_n on both sides, and then which of its rows are the same."""
    titles = {name: home[name].but(text=last_heading(both)) for name in (f"title:{side}h" for side in SIDES)}
    finals = {**home, **titles, **states(both, both.home, both.last)}
    same = both.last_same[both.view.ranked]
    if not both.view.small:
        finals |= rings(both, True, both.view.place)
    verdicts = {
        "apart": distances(both, both.view.place, both.last_apart, both.last_same, "equal"),
        # of small rows only the equal ones: the others are coloured
        "mark:h": outlines(both, both.view.place, np.where(same, "good", "wrong"), same | (not both.view.small)),
    }
    return finals, {**finals, **verdicts}


def _result(both: Pair, judged: Frame) -> Frame:
    """Return the final states with the names of the sides."""
    titles = {f"title:{side}h": f"{side.capitalize()}: {last_heading(both)}" for side in SIDES}
    named = {name: judged[name].but(text=text) for name, text in titles.items()}
    return {**judged, **named}


def _apart_somewhere(both: Pair) -> bool:
    """Return whether any states that are shown differ."""
    return not (both.last_same.all() and both.same[:, : both.view.columns].all())


def _states_of(both: Pair) -> list[Tensor]:
    """Return the states of the padded side, for the scale of both."""
    return [both.view.trace.h_0, *(half for layer in both.padded for half in layer)]
