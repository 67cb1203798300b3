"""The hidden units of one sequence over time: a line for each."""

from typing import Any

import plotly.graph_objects as go

from packviz.compute.trace import Trace
from packviz.show.charts.template import drawn, sequence_color
from packviz.show.charts.watched import Watched, state_end, watched
from packviz.text import counted, sequence_label
from packviz.theme import LIGHT, SEQUENCE_HUES, Palette, with_contrast
from packviz.validate import integer

__all__ = ["units"]

LINES = 10  # shown at most: so many colours can be told apart
DASHES = ("solid", "dash", "dot")


def units(trace: Trace, b: int, *, layer: int | None = None, direction: int = 0, palette: Palette = LIGHT) -> go.Figure:
    """Return h of sequence `b` over its time steps, a line for each hidden unit, the final state marked.

    layer: 0 to L - 1, or None for the top one. direction: 0 forward, 1 backward. At most ten units are shown; the
    title says so. Raises PackvizError where there is no such sequence, layer or direction.
    """
    seen = watched(trace, layer, direction)
    B, _, H = seen.grid.shape
    b = integer("b", b, 0, B - 1, mend=f"this batch has {counted(B, 'sequence')}, counted from 0")
    shown, end = min(H, LINES), state_end(trace) * 1.05
    more = f"showing {shown} of {counted(H, 'hidden unit')}" if shown < H else ""
    layout = {
        "title": {"text": f"Sequence {sequence_label(b)}, {seen.name}", "subtitle": {"text": more}},
        "height": 460,
        "showlegend": True,
        "xaxis": {"title": {"text": "time step t"}, "dtick": max(1, seen.lengths[b] // 10), "showgrid": False},
        "yaxis": {"title": {"text": "h"}, "range": [-end, end], "zeroline": True},
    }
    lines = [_line(seen, b, unit, palette) for unit in range(shown)]
    return drawn([*lines, _final(seen, b, shown, palette)], layout, _alt(seen, b, H), palette)


def _line(seen: Watched, b: int, unit: int, palette: Palette) -> dict[str, Any]:
    steps = range(seen.lengths[b])
    color = with_contrast(SEQUENCE_HUES[unit % len(SEQUENCE_HUES)], palette.background, 3.0)
    values = [float(seen.grid[b, t, unit]) for t in steps]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": f"unit {unit}",
        "x": list(steps),
        "y": values,
        "line": {"color": color, "width": 2.5, "dash": DASHES[unit % len(DASHES)]},
        "marker": {"size": 6, "color": color},
        "hoverinfo": "text",
        "hovertext": [
            f"sequence {sequence_label(b)}, t = {t}, packed row {int(seen.rows[b, t])}<br>unit {unit}: h = {value:.4f}"
            for t, value in zip(steps, values, strict=True)
        ],
    }


def _final(seen: Watched, b: int, shown: int, palette: Palette) -> dict[str, Any]:
    t = seen.final_step(b)
    color = with_contrast(sequence_color(b), palette.background, 3.0)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "h_n",
        "x": [t] * shown,
        "y": seen.grid[b, t, :shown].tolist(),
        "marker": {"symbol": "circle-open", "size": 16, "color": color, "line": {"width": 3}},
        "hoverinfo": "skip",
    }


def _alt(seen: Watched, b: int, H: int) -> str:
    where = f"at t = {seen.final_step(b)}"
    return (
        f"{counted(H, 'hidden unit')} of sequence {sequence_label(b)} over {counted(seen.lengths[b], 'time step')}, "
        f"{seen.name}; the final state, {where}, is ringed."
    )
