"""What is said where padded stands beside packed, and the lines that run on either side."""

from math import isfinite, isnan

import numpy as np

from packviz.show.movie.marks import CodeLine
from packviz.show.movie.padded_vs_packed import Both
from packviz.show.movie.view import shape
from packviz.show.movie.words import STARTS, say
from packviz.text import two_digits

Told = tuple[str, tuple[CodeLine, ...]]  # a caption, and the lines that run


def far(distance: float) -> str:
    """Return a distance as it stands beside a row: two digits that count, or nan and inf."""
    return two_digits(float(distance)) if isfinite(distance) else str(float(distance))


def told_of_start(both: Both) -> Told:
    """Say what the two sides have in common before the first time step."""
    states, trace = both.kind.in_code("n"), both.trace
    return say("beside", "start", both, start=STARTS.get(both.initial_state, both.initial_state)), (
        CodeLine(f"out, {states} = {both.cell}(x)", _out_shape(both)),
        CodeLine("packed = pack_padded_sequence(…)", f"data {shape(*trace.packed.data.shape)}"),
        CodeLine(f"output, {states} = {both.cell}(packed)", f"data {shape(*trace.output.shape)}"),
    )


def told_of_step(both: Both, t: int) -> Told:
    """Say what happens on both sides at a time step, and which rows enter the cell on either side."""
    fed, idle = ([b for b in both.order if (t < both.lengths[b]) == live] for live in (True, False))
    pads, dropped = ([b for b in sorted(idle) if both.mask[b, t] == real] for real in (False, True))
    off = [b for b in range(both.total[0]) if not both.same[b, t]]
    farthest = _farthest(pads, both.moved[:, t]) if idle else _farthest(off, both.apart[:, t])
    distances = {"moved": far(both.moved[farthest, t]), "apart": far(both.apart[farthest, t])}
    rows = {"fed": fed, "idle": idle, "pads": pads, "dropped": dropped, "off": off}
    strays = [b for b in fed if not both.mask[b, t]]
    caption = say("beside", "step", both, t=t, strays=strays, farthest=farthest, **rows, **distances)
    size = both.batch_sizes[t] if t < len(both.batch_sizes) else 0
    start = both.offsets[t] if size else both.tokens
    name, data = (f"out{both.layer - 1}", f"output{both.layer - 1}.data") if both.layer else ("x", "data")
    column = f"{name}[:, {t}]" if both.batch_first else f"{name}[{t}]"
    return caption, (
        CodeLine(f"padded: {column}", shape(both.total[0], both.entering)),
        CodeLine(f"packed: {data}[{start}:{start + size}]", shape(size, both.entering)),
    )


def told_of_outputs(both: Both) -> Told:
    """Say how the two outputs compare, where both have one and where only one has."""
    cells = [(b, t) for b, length in enumerate(both.lengths) for t in range(length)]
    rest = [(b, t) for b, length in enumerate(both.lengths) for t in range(length, both.total[1])]
    off = [at for at in cells if not both.same[at]]
    b, t = max(off, key=lambda at: _order(float(both.apart[at])), default=(0, 0))
    known = {"cells": len(cells), "more": len(rest), "only_pads": not any(both.mask[at] for at in rest)}
    caption = say("beside", "outputs", both, off=off, b=b, t=t, apart=far(both.apart[b, t]), **known)
    unpacked = shape(*both.trace.unpacked.output.shape)
    return caption, (CodeLine("out", _out_shape(both)), CodeLine("pad_packed_sequence(output)", unpacked))


def told_of_h_n(both: Both) -> Told:
    """Say whose h_n is the same on both sides, and how far the others are apart."""
    agree, differ = ([b for b in range(both.total[0]) if both.last_same[b] == same] for same in (True, False))
    farthest = _farthest(differ, both.last_apart)
    most, row = far(both.last_apart[farthest]), both.layer * both.directions + both.direction
    lines = [CodeLine(f"{side}: h_n[{row}]", shape(*both.last[0].shape)) for side in ("padded", "packed")]
    largest = CodeLine("their largest difference", far(max(both.last_apart.tolist())))
    caption = say("beside", "h_n", both, agree=agree, differ=differ, farthest=farthest, most=most)
    return caption, (*lines, largest)


def _farthest(sequences: list[int], distances: np.ndarray) -> int:
    return max(sequences, key=lambda b: _order(float(distances[b])), default=0)


def _order(distance: float) -> float:
    return float("inf") if isnan(distance) else distance


def _out_shape(both: Both) -> str:
    (rows, columns), size = both.total, sum(half.shape[2] for half in both.padded[-1])
    return shape(rows, columns, size) if both.batch_first else shape(columns, rows, size)
