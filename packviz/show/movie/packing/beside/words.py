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
        packed=f"packed {'row' if packed_rows.pads(both.view) else 'token'}",
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
    """Say what each side reads at a time step, and how far apart their states are then."""
    view = both.view
    fed, idle = ([b for b in view.order if (t < view.lengths[b]) == live] for live in (True, False))
    pads, dropped = ([b for b in sorted(idle) if view.mask[b, t] == real] for real in (False, True))
    strays = [b for b in fed if not view.mask[b, t]]
    if not idle:
        return f"{_together_caption(t, fed, strays)} {_apart_caption(both, t)}"
    if strays or dropped:
        packed = _packed_caption(t, fed, idle, strays, back=bool(view.direction))
        return f"{packed} {_padded_caption(both, t, pads, dropped)}"
    farthest = _most_of(pads, both.apart[:, t])
    key = "beside.pads_backward" if view.direction else "beside.pads"
    return say(key, t=t, pads=pads, farthest=farthest, apart=far(both.apart[farthest, t]))


def _together_caption(t: int, fed: list[int], strays: list[int]) -> str:
    if strays:
        return say("beside.together_strays", t=t, fed=fed, strays=strays)
    return say("beside.together", t=t, fed=fed)


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


def _packed_caption(t: int, fed: list[int], idle: list[int], strays: list[int], *, back: bool) -> str:
    """Say what the packed side does if it has taken pads for tokens."""
    if strays:
        key = "beside.waits_strays" if back else "beside.ended_strays"
        return say(key, t=t, fed=fed, strays=strays, idle=idle)
    return say("beside.waits" if back else "beside.ended", t=t, fed=fed, idle=idle)


def _padded_caption(both: Pair, t: int, pads: list[int], dropped: list[int]) -> str:
    """Say what the padded side reads meanwhile."""
    total, farthest = both.view.total[0], _most_of(pads, both.apart[:, t])
    apart = far(both.apart[farthest, t])
    if not pads:
        return say("beside.dropped", total=total, dropped=dropped)
    if len(pads) == 1 and dropped:
        return say("beside.pad_and_dropped", total=total, pads=pads, apart=apart, dropped=dropped)
    if len(pads) == 1:
        return say("beside.pad", total=total, pads=pads, apart=apart)
    if dropped:
        key = "beside.some_pads_and_dropped"
        return say(key, total=total, pads=pads, farthest=farthest, apart=apart, dropped=dropped)
    return say("beside.some_pads", total=total, pads=pads, farthest=farthest, apart=apart)


def outputs_step(both: Pair) -> Step:
    """Return the step that shows how the two outputs compare, where both have one and where only one does."""
    caption = f"{_filled_caption(both)} {_outputs_caption(both)}"
    unpacked = shape(*both.view.trace.unpacked.output.shape)
    lines = CodeLine("out", _out_shape(both)), CodeLine("pad_packed_sequence(output)", unpacked)
    return Step(caption, detail=lines, name="outputs")


def _filled_caption(both: Pair) -> str:
    """Say what pad_packed_sequence does, and what the padded output has in the cells that no packed row fills."""
    view, cells = both.view, packed_rows.pads_out(both.view)
    value, more = view.trace.padding_value, view.mask.size - inputs.count(view)
    if packed_rows.pads(view):  # then there are tokens among them
        return say("beside.fills_more", cells=cells, value=value, more=more)
    if not cells:
        return say("beside.restores_from_pads", more=more) if more else say("beside.restores")
    if not more:
        return say("beside.fills", cells=cells, value=value)
    key = "beside.fills_pads" if more == cells else "beside.fills_from_pads"
    return say(key, cells=cells, value=value, more=more)


def _outputs_caption(both: Pair) -> str:
    """Say at how many packed rows the outputs differ, and where most."""
    rows, packed = inputs.count(both.view), packed_rows.noun(both.view)
    cells = [(b, t) for b, length in enumerate(both.view.lengths) for t in range(length)]
    off = [at for at in cells if not both.same[at]]
    if off:
        b, t = _most_of(off, both.apart)
        return say(
            "beside.outputs_differ", off=len(off), rows=rows, packed=packed, apart=far(both.apart[b, t]), b=b, t=t
        )
    return say("beside.outputs_agree", rows=rows, packed=packed) if rows > 1 else say("beside.outputs_agree_once")


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
    if len(differ) == 1:
        said = say("beside.h_n_one_differs", differ=differ, most=most)
    else:
        said = say("beside.h_n_differ", differ=differ, most=most, farthest=farthest)
    return f"{said} {say('beside.h_n_agree', agree=agree)}" if agree else said


def _most_of(places: list[Any], distances: np.ndarray) -> Any:
    known = np.nan_to_num(distances, nan=np.inf, posinf=np.inf)
    return max(places, key=known.__getitem__, default=0)


def _out_shape(both: Pair) -> str:
    (rows, columns), size = both.view.total, sum(half.shape[2] for half in both.padded[-1])
    return shape(rows, columns, size) if inputs.batch_first(both.view) else shape(columns, rows, size)
