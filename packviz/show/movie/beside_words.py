"""What is said where padded stands beside packed, and the lines that run on either side."""

from math import isfinite

import numpy as np

from packviz.show.movie.marks import CodeLine
from packviz.show.movie.padded_vs_packed import Both
from packviz.show.movie.view import shape
from packviz.show.movie.words import STARTS, say
from packviz.text import two_digits


def far(distance: float) -> str:
    """Return a distance as it stands beside a row: two digits that count, or nan and inf."""
    return two_digits(float(distance)) if isfinite(distance) else str(float(distance))


def start_words(both: Both) -> str:
    """Say what the two sides have in common before the first time step."""
    return say("beside", "start", both, start=STARTS.get(both.initial_state, both.initial_state))


def step_words(both: Both, t: int) -> str:
    """Say what happens on both sides at a time step."""
    fed, idle = ([b for b in both.order if (t < both.lengths[b]) == live] for live in (True, False))
    still = sorted(idle)
    pads, dropped = ([b for b in still if both.mask[b, t] == real] for real in (False, True))
    off = [b for b in range(both.total[0]) if not both.same[b, t]]
    told = (pads, both.moved[:, t]) if idle else (off, both.apart[:, t])
    farthest = _farthest(*told)
    return say(
        "beside", "step", both, t=t, fed=fed, idle=idle, strays=[b for b in fed if not both.mask[b, t]], pads=pads,
        dropped=dropped, off=off, farthest=farthest, moved=far(both.moved[farthest, t]),
        apart=far(both.apart[farthest, t]),
    )  # fmt: skip


def output_words(both: Both) -> str:
    """Say how the two outputs compare, where both have one and where only one has."""
    cells = [(b, t) for b, length in enumerate(both.lengths) for t in range(length)]
    rest = [(b, t) for b, length in enumerate(both.lengths) for t in range(length, both.total[1])]
    off = [at for at in cells if not both.same[at]]
    b, t = max(off, key=lambda at: _order(float(both.apart[at])), default=(0, 0))
    return say(
        "beside", "outputs", both, cells=len(cells), more=len(rest), only_pads=not any(both.mask[at] for at in rest),
        off=off, b=b, t=t, apart=far(both.apart[b, t]),
    )  # fmt: skip


def last_words(both: Both) -> str:
    """Say whose h_n is the same on both sides, and how far the others are apart."""
    agree, differ = ([b for b in range(both.total[0]) if both.last_same[b] == same] for same in (True, False))
    farthest = _farthest(differ, both.last_apart)
    most = far(both.last_apart[farthest])
    return say("beside", "h_n", both, agree=agree, differ=differ, farthest=farthest, most=most)


def _farthest(sequences: list[int], distances: np.ndarray) -> int:
    return max(sequences, key=lambda b: _order(float(distances[b])), default=0)


def _order(distance: float) -> float:
    return distance if distance == distance else float("inf")


def call_lines(both: Both) -> tuple[CodeLine, ...]:
    states, rows = both.kind.in_code("n"), shape(*both.trace.output.shape)
    return (
        CodeLine(f"out, {states} = {both.cell}(x)", _out_shape(both)),
        CodeLine("packed = pack_padded_sequence(…)", f"data {shape(*both.trace.packed.data.shape)}"),
        CodeLine(f"output, {states} = {both.cell}(packed)", f"data {rows}"),
    )


def row_lines(both: Both, t: int) -> tuple[CodeLine, ...]:
    """Tell which rows enter the cell on either side."""
    size = both.batch_sizes[t] if t < len(both.batch_sizes) else 0
    start = both.offsets[t] if size else both.tokens
    name, data = (f"out{both.layer - 1}", f"output{both.layer - 1}.data") if both.layer else ("x", "data")
    column = f"{name}[:, {t}]" if both.batch_first else f"{name}[{t}]"
    return (
        CodeLine(f"padded: {column}", shape(both.total[0], both.entering)),
        CodeLine(f"packed: {data}[{start}:{start + size}]", shape(size, both.entering)),
    )


def output_lines(both: Both) -> tuple[CodeLine, ...]:
    unpacked = shape(*both.trace.unpacked.output.shape)
    return CodeLine("out", _out_shape(both)), CodeLine("pad_packed_sequence(output)", unpacked)


def last_lines(both: Both) -> tuple[CodeLine, ...]:
    row, size = both.layer * both.directions + both.direction, shape(*both.last[0].shape)
    return (
        CodeLine(f"padded: h_n[{row}]", size),
        CodeLine(f"packed: h_n[{row}]", size),
        CodeLine("their largest difference", far(max(both.last_apart.tolist()))),
    )


def _out_shape(both: Both) -> str:
    (rows, columns), size = both.total, sum(half.shape[2] for half in both.padded[-1])
    return shape(rows, columns, size) if both.batch_first else shape(columns, rows, size)
