"""What is said at each step of a run, padded beside packed: the caption and the lines of code."""

from math import isfinite
from typing import Any

import numpy as np

from packviz.show.movie.marks import CodeLine, Step
from packviz.show.movie.packing import inputs, packed_rows, recurrent
from packviz.show.movie.packing.beside.pair import SIDES, Pair
from packviz.show.movie.packing.words import say
from packviz.text import shape, two_digits


def far(distance: float) -> str:
    """Return a distance as written beside a row: two significant digits, or nan and inf."""
    return two_digits(float(distance)) if isfinite(distance) else str(float(distance))


def result_step(both: Pair) -> Step:
    """Return the step that shows the final states of both sides before it is shown how they come about."""
    differ = [b for b in range(both.view.total[0]) if not both.last_same[b]]
    if not differ:
        return Step(say("beside.same"), name="result")
    most = far(both.last_apart[_most_of(differ, both.last_apart)])
    caption = say("beside.one_differs" if len(differ) == 1 else "beside.differ", differ=differ, most=most)
    return Step(caption, name="result")


def start_step(both: Pair) -> Step:
    """Return the step that shows what the two sides have in common before the first time step."""
    states, trace = recurrent.kind(both.view).in_code("n"), both.view.trace
    caption = say(
        "beside.start_backward" if both.view.direction else "beside.start",
        cell=recurrent.cell(both.view).upper(),
        cells=both.view.mask.size,
        rows=inputs.count(both.view),
        packed="packed row" if packed_rows.pads(both.view) else "packed token",
    )
    lines = (
        CodeLine(f"out, {states} = {recurrent.cell(both.view)}(x)", _out_shape(both)),
        CodeLine("packed = pack_padded_sequence(…)", f"data {shape(*trace.packed.data.shape)}"),
        CodeLine(f"output, {states} = {recurrent.cell(both.view)}(packed)", f"data {shape(*trace.output.shape)}"),
    )
    return Step(caption, detail=lines)


def time_step(both: Pair, t: int) -> Step:
    """Return the step that shows a time step on both sides, and which rows enter the cell on each."""
    size = both.view.batch_sizes[t] if t < len(both.view.batch_sizes) else 0
    start = packed_rows.offsets(both.view)[t] if size else inputs.count(both.view)
    name, data = (
        (f"out{both.view.layer - 1}", f"output{both.view.layer - 1}.data") if both.view.layer else ("x", "data")
    )
    column = f"{name}[:, {t}]" if inputs.batch_first(both.view) else f"{name}[{t}]"
    lines = (
        CodeLine(f"padded: {column}", shape(both.view.total[0], recurrent.entering(both.view))),
        CodeLine(f"packed: {data}[{start}:{start + size}]", shape(size, recurrent.entering(both.view))),
    )
    return Step(_time_caption(both, t), detail=lines, time=t, beats=3)


def _time_caption(both: Pair, t: int) -> str:
    """Say what only one side reads at a time step, if it is so, or else how far apart the states are."""
    view = both.view
    fed, idle = ([b for b in view.order if (t < view.lengths[b]) == live] for live in (True, False))
    pads, dropped = ([b for b in sorted(idle) if view.mask[b, t] == real] for real in (False, True))
    strays = [b for b in fed if not view.mask[b, t]]
    if not idle:
        read = say("beside.strays", t=t, strays=strays) if strays else say("beside.together", t=t, fed=fed)
        return f"{read} {_apart_caption(both, t)}"
    if strays:  # in the first half of the grid, so that no token was dropped
        return say("beside.strays_and_pads", t=t, strays=strays, pads=pads)
    if dropped and pads:
        return say("beside.pads_and_dropped", t=t, pads=pads, dropped=dropped)
    if dropped:
        return say("beside.dropped", t=t, dropped=dropped)
    farthest = _most_of(pads, both.apart[:, t])
    key = "beside.pads_backward" if view.direction else "beside.pads"
    return say(key, t=t, pads=pads, farthest=farthest, apart=far(both.apart[farthest, t]))


def _apart_caption(both: Pair, t: int) -> str:
    """Say how far apart the states are after a time step at which both sides read all sequences."""
    off, alone = [b for b in range(both.view.total[0]) if not both.same[b, t]], both.view.total[0] == 1
    if not off and t and not both.view.direction:
        return say("beside.still_equal_alone" if alone else "beside.still_equal")
    if not off:
        return say("beside.equal_alone" if alone else "beside.equal")
    farthest = _most_of(off, both.apart[:, t])
    apart = far(both.apart[farthest, t])
    if len(off) == 1:
        return say("beside.one_apart", farthest=farthest, apart=apart)
    return say("beside.some_apart", sequences=len(off), farthest=farthest, apart=apart)


def outputs_step(both: Pair) -> Step:
    """Return the step that shows how the two outputs compare, where both have one and where only one does."""
    unpacked = shape(*both.view.trace.unpacked.output.shape)
    lines = CodeLine("padded: out", _out_shape(both)), CodeLine("packed: out, lens = pad_packed_sequence(…)", unpacked)
    return Step(_outputs_caption(both), detail=lines, name="outputs")


def _outputs_caption(both: Pair) -> str:
    """Say what pad_packed_sequence does, and at how many packed rows the outputs differ, if at any."""
    view, rows, packed = both.view, inputs.count(both.view), packed_rows.noun(both.view)
    off = [(b, t) for b, length in enumerate(view.lengths) for t in range(length) if not both.same[b, t]]
    if not off:
        agree = say("beside.outputs_agree", rows=rows, packed=packed) if rows > 1 else say("beside.outputs_agree_once")
        return f"{agree} {_filled_caption(both)}"
    cells, (b, t) = packed_rows.pads_out(view), _most_of(off, both.apart)
    filled = say("beside.fills", cells=cells, value=view.trace.padding_value) if cells else say("beside.restores")
    apart = far(both.apart[b, t])
    differ = say("beside.outputs_differ", off=len(off), rows=rows, packed=packed, apart=apart, b=b, t=t)
    return f"{filled} {differ}"


def _filled_caption(both: Pair) -> str:
    """Say what pad_packed_sequence does, and what the padded output has in the cells that no packed row fills."""
    view, cells = both.view, packed_rows.pads_out(both.view)
    value, more = view.trace.padding_value, inputs.pads(view)
    if packed_rows.pads(view):  # then there are tokens among them
        return say("beside.fills_more", cells=cells, value=value, more=more)
    if not cells:
        return say("beside.restores_from_pads", more=more) if more else say("beside.restores")
    if not more:
        return say("beside.fills", cells=cells, value=value)
    return say("beside.fills_from_pads", cells=cells, value=value, more=more)


def h_n_step(both: Pair) -> Step:
    """Return the step that shows which rows of h_n are equal on both sides, and how far apart the others are."""
    agree, differ = ([b for b in range(both.view.total[0]) if both.last_same[b] == same] for same in (True, False))
    lines = [CodeLine(f"{side}: {recurrent.final(both.view)}", shape(*both.last[0].shape)) for side in SIDES]
    largest = CodeLine("their largest difference", far(max(both.last_apart.tolist())))
    return Step(_h_n_caption(both, agree, differ), detail=(*lines, largest), name="h_n")


def _h_n_caption(both: Pair, agree: list[int], differ: list[int]) -> str:
    if not differ:
        return say("beside.h_n_same", agree=agree)
    farthest = _most_of(differ, both.last_apart)
    most = far(both.last_apart[farthest])
    if len(differ) > 1 and agree:
        return say("beside.h_n_differ_partly", agree=agree, differ=differ, most=most, farthest=farthest)
    if len(differ) > 1:
        return say("beside.h_n_differ", differ=differ, most=most, farthest=farthest)
    said = say("beside.h_n_one_differs", differ=differ, most=most)
    return f"{said} {say('beside.h_n_agree', agree=agree)}" if agree else said


def _most_of(places: list[Any], distances: np.ndarray) -> Any:
    known = np.nan_to_num(distances, nan=np.inf, posinf=np.inf)
    return max(places, key=known.__getitem__, default=0)


def _out_shape(both: Pair) -> str:
    (rows, columns), size = both.view.total, sum(half.shape[2] for half in both.padded[-1])
    return shape(rows, columns, size) if inputs.batch_first(both.view) else shape(columns, rows, size)
