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
    most = far(both.last_apart[_most_of(differ, both.last_apart)])
    return Step(say("beside", "result", both.view, differ=differ, most=most), name="result")


def start_step(both: Pair) -> Step:
    """Return the step that shows what the two sides have in common before the first time step."""
    states, trace = recurrent.kind(both.view).in_code("n"), both.view.trace
    caption = say("beside", "start", both.view)
    lines = (
        CodeLine(f"out, {states} = {recurrent.cell(both.view)}(x)", _out_shape(both)),
        CodeLine("packed = pack_padded_sequence(…)", f"data {shape(*trace.packed.data.shape)}"),
        CodeLine(f"output, {states} = {recurrent.cell(both.view)}(packed)", f"data {shape(*trace.output.shape)}"),
    )
    return Step(caption, detail=lines)


def time_step(both: Pair, t: int) -> Step:
    """Return the step that shows a time step on both sides, and which rows enter the cell on each."""
    fed, idle = ([b for b in both.view.order if (t < both.view.lengths[b]) == live] for live in (True, False))
    pads, dropped = ([b for b in sorted(idle) if both.view.mask[b, t] == real] for real in (False, True))
    off = [b for b in range(both.view.total[0]) if not both.same[b, t]]
    farthest = _most_of(pads if idle else off, both.apart[:, t])
    rows = {"fed": fed, "idle": idle, "pads": pads, "dropped": dropped, "off": off}
    strays = [b for b in fed if not both.view.mask[b, t]]
    apart = far(both.apart[farthest, t])
    reading = say("beside", "reading", both.view, fed=fed, strays=strays)  # what the packed side does
    key = "together" if not idle else "apart" if strays or dropped else "pads"
    caption = say("beside", key, both.view, t=t, reading=reading, farthest=farthest, apart=apart, **rows)
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
    return Step(caption, detail=lines, time=t, beats=3)


def outputs_step(both: Pair) -> Step:
    """Return the step that shows how the two outputs compare, where both have one and where only one does."""
    cells = [(b, t) for b, length in enumerate(both.view.lengths) for t in range(length)]
    rest = [(b, t) for b, length in enumerate(both.view.lengths) for t in range(length, both.view.total[1])]
    off = [at for at in cells if not both.same[at]]
    b, t = _most_of(off, both.apart) or (0, 0)
    known = {"cells": len(cells), "more": len(rest), "only_pads": not any(both.view.mask[at] for at in rest)}
    caption = say("beside", "outputs", both.view, off=off, b=b, t=t, apart=far(both.apart[b, t]), **known)
    unpacked = shape(*both.view.trace.unpacked.output.shape)
    lines = CodeLine("out", _out_shape(both)), CodeLine("pad_packed_sequence(output)", unpacked)
    return Step(caption, detail=lines, name="outputs")


def h_n_step(both: Pair) -> Step:
    """Return the step that shows which rows of h_n are equal on both sides, and how far apart the others are."""
    agree, differ = ([b for b in range(both.view.total[0]) if both.last_same[b] == same] for same in (True, False))
    farthest = _most_of(differ, both.last_apart)
    caption = say(
        "beside", "h_n", both.view, agree=agree, differ=differ, farthest=farthest, most=far(both.last_apart[farthest])
    )
    lines = [CodeLine(f"{side}: {recurrent.final(both.view)}", shape(*both.last[0].shape)) for side in SIDES]
    largest = CodeLine("their largest difference", far(max(both.last_apart.tolist())))
    return Step(caption, detail=(*lines, largest), name="h_n")


def _most_of(places: list[Any], distances: np.ndarray) -> Any:
    known = np.nan_to_num(distances, nan=np.inf, posinf=np.inf)
    return max(places, key=known.__getitem__, default=0)


def _out_shape(both: Pair) -> str:
    (rows, columns), size = both.view.total, sum(half.shape[2] for half in both.padded[-1])
    return shape(rows, columns, size) if inputs.batch_first(both.view) else shape(columns, rows, size)
