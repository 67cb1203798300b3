"""Hidden states over time: all sequences as a heat map, and the units of one sequence as lines."""

from typing import Any, NamedTuple

import plotly.graph_objects as go
import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compute.record import Trace, watched_layer
from packviz.inputs.config import DIRECTIONS
from packviz.show.charts.template import drawn, heatmap, line, named_axis, showing
from packviz.show.theme import LIGHT, SEQUENCE_HUES, Palette, sequence_color, with_contrast
from packviz.text import counted, sequence_label
from packviz.validate import integer

SEQUENCES, UNITS, STEPS = 24, 12, 200  # shown at most in the heat map
GAP = 1  # rows between the bands of two sequences
LINES = 10  # units shown at most as lines: this many colours can be told apart
DASHES = ("solid", "dash", "dot")


class _Grid(NamedTuple):
    """One layer and direction as a grid."""

    h: Tensor  # (B, T, H), NaN where nothing was packed
    rows: list[list[int]]  # (B, T): the packed row of each cell, -1 where nothing was packed
    lengths: list[int]  # B numbers
    finals: list[int]  # B numbers: the time step that makes each state final
    name: str  # the cell, layer and direction, in words
    scale: float  # the largest state of all layers, at least 1: where the scale ends

    def hover_text(self, b: int, t: int, unit: int) -> str:
        """Return the hover text of a state; "" if nothing was packed."""
        if self.rows[b][t] < 0:
            return ""
        what = f"sequence {sequence_label(b)}, t = {t}, packed row {self.rows[b][t]}"
        return f"{what}<br>unit {unit}: h = {float(self.h[b, t, unit]):z.4f}"


def _grid(trace: Trace, layer: int | None, direction: int) -> _Grid:
    """Return one layer and direction of a trace; raises PackvizError for one that does not exist."""
    (layer, direction), layers = watched_layer(trace, layer, direction), trace.layers
    L, D = len(layers), len(layers[0])
    h, packed = layers[layer][direction].h.detach(), trace.packed_sequence
    grid, lengths = pad_packed_sequence(packed._replace(data=h), True, float("nan"))
    rows, _ = pad_packed_sequence(packed._replace(data=torch.arange(len(h), device="cpu")), True, -1)
    parts = [type(trace.module).__name__, f"layer {layer}" * (L > 1), DIRECTIONS[direction] * (D > 1)]
    every = [part for each in layers for half in each for part in (half.h, half.c) if part is not None]
    scale = max(1.0, *(float(part.abs().nan_to_num(posinf=0.0).amax()) for part in every))
    finals = [0 if direction else length - 1 for length in lengths.tolist()]
    return _Grid(grid, rows.tolist(), lengths.tolist(), finals, ", ".join(filter(None, parts)), scale)


def states(trace: Trace, *, layer: int | None = None, direction: int = 0, palette: Palette = LIGHT) -> go.Figure:
    """Return h of one layer and direction as a heat map: time steps across, a band of hidden units per sequence.

    layer: 0 to L - 1, or None for the top one. direction: 0 forward, 1 backward. Nothing is shown past the end of a
    sequence. The final state has an outline in the sequence's hue: at its last valid step, or backward at t = 0. The
    scale ends where the movie's does. The title says how many sequences and units are shown, if not all.
    """
    seen = _grid(trace, layer, direction)
    B, T, H = seen.h.shape
    rows, units, steps = min(B, SEQUENCES), min(H, UNITS), min(T, STEPS)
    z = pad(seen.h[:rows, :steps, :units], (0, GAP), value=float("nan"))  # (rows, steps, units + GAP)
    tops = range(0, rows * (units + GAP), units + GAP)
    hover = [
        [seen.hover_text(b, t, i) if i < units else "" for t in range(steps)]
        for b in range(rows)
        for i in range(units + GAP)
    ]
    z = z.transpose(1, 2).flatten(0, 1)  # a row per unit, and an empty one after each band
    look = {"xgap": 1 if steps <= 40 else 0, "colorbar": {"title": "h", "len": 0.9}}
    tall = len(tops) * (units + GAP)
    lengths = ", ".join(f"{sequence_label(b)} {seen.lengths[b]}" for b in range(min(rows, 8)))
    alt = (
        f"Heat map of {counted(H, 'hidden unit')} of {counted(B, 'sequence')} over {counted(T, 'time step')}, "
        f"{seen.name}; lengths {lengths}{' and more' if rows > 8 else ''}; each final state is outlined "
        f"at {'t = 0' if direction else 'its last valid step'}."
    )
    return drawn(
        [heatmap(z[:-GAP].tolist(), hover[:-GAP], seen.scale, palette, **look)],
        alt,
        palette,
        title=f"Hidden states, {seen.name}",
        subtitle=showing((rows, B, "sequence"), (units, H, "unit"), (steps, T, "step")),
        height=max(300, min(900, 150 + int(tall * max(3.0, min(18.0, 620 / tall))))),
        shapes=[ring for b, top in enumerate(tops) for ring in _rings(b, seen.finals[b], top, units, steps, palette)],
        xaxis={"title": "time step t", "dtick": max(1, steps // 10), "showgrid": False, "zeroline": False},
        yaxis=named_axis(
            [f"<b>{sequence_label(b)}</b>" for b in range(rows)],
            [top + (units - 1) / 2 for top in tops],
            title="sequence: hidden units",
            range=[tall - GAP - 0.5, -0.5],
        ),
    )


def _rings(b: int, t: int, top: int, units: int, steps: int, palette: Palette) -> list[dict[str, Any]]:
    """Return the ring around a sequence's final state, if its step is shown: dark outside, its hue inside."""
    box = {"type": "rect", "x0": t - 0.5, "x1": t + 0.5, "y0": top - 0.5, "y1": top + units - 0.5, "layer": "above"}
    outside, inside = (5, 3) if steps <= 20 else (3, 1.5)
    lines = ({"color": palette.text, "width": outside}, {"color": sequence_color(b), "width": inside})
    return [box | {"line": line} for line in lines] if t < steps else []


def units(trace: Trace, b: int, *, layer: int | None = None, direction: int = 0, palette: Palette = LIGHT) -> go.Figure:
    """Return h of sequence `b` over its time steps, a line for each hidden unit, the final state marked.

    layer: 0 to L - 1, or None for the top one. direction: 0 forward, 1 backward. At most ten units are shown; the
    title says so. Raises PackvizError for a sequence, layer or direction that does not exist.
    """
    seen = _grid(trace, layer, direction)
    B, _, H = seen.h.shape
    b = integer("b", b, 0, B - 1, fix=f"this batch has {counted(B, 'sequence')}, counted from 0")
    length, final, shown = seen.lengths[b], seen.finals[b], min(H, LINES)
    colors = [with_contrast(color, palette.background, 3.0) for color in (*SEQUENCE_HUES, sequence_color(b))]
    lines = []
    for unit, values in enumerate(seen.h[b, :length, :shown].T.tolist()):
        hover = [seen.hover_text(b, t, unit) for t in range(length)]
        lines.append(line(range(length), values, colors[unit], hover) | {"name": f"unit {unit}"})
        lines[-1]["line"]["dash"] = DASHES[unit % len(DASHES)]
    marker = {"symbol": "circle-open", "size": 16, "color": colors[-1], "line": {"width": 3}}
    place = {"x": [final] * shown, "y": seen.h[b, final, :shown].tolist()}
    ring = {"mode": "markers", "name": "h_n", "marker": marker, "hoverinfo": "skip", **place}
    return drawn(
        [*lines, ring],
        f"{counted(H, 'hidden unit')} of sequence {sequence_label(b)} over {counted(length, 'time step')}, "
        f"{seen.name}; the final state, at t = {final}, is ringed.",
        palette,
        title=f"Sequence {sequence_label(b)}, {seen.name}",
        subtitle=showing((shown, H, "hidden unit")),
        height=460,
        showlegend=True,
        xaxis={"title": "time step t", "dtick": max(1, length // 10), "showgrid": False},
        yaxis={"title": "h", "range": [-1.05 * seen.scale, 1.05 * seen.scale], "zeroline": True},
    )
