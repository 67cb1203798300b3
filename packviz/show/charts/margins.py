"""The two margins of one staircase: lengths row by row, batch_sizes column by column."""

from typing import Any

import plotly.graph_objects as go

from packviz.compute.trace import Trace
from packviz.show.charts.template import drawn, sequence_color
from packviz.text import counted, sequence_label
from packviz.theme import LIGHT, Palette, mix

__all__ = ["margins"]

NAMED = 26  # sequences up to which each has its letter


def margins(trace: Trace, palette: Palette = LIGHT) -> go.Figure:
    """Return lengths, a bar each sequence in sorted order, above batch_sizes, a bar each time step.

    Both add up to N. Raises PackvizError where torch refuses to pack.
    """
    lengths, order = trace.sorted.lengths.tolist(), trace.sorted.order.tolist()
    sizes = trace.packed.batch_sizes.tolist()
    B, T, N = len(lengths), len(sizes), sum(sizes)
    few, text = len(lengths) <= NAMED, {"color": palette.text}
    data = [
        _lengths(lengths, order, palette) | {"text": [str(n) for n in lengths] if few else None, "textfont": text},
        _sizes(sizes, trace.packed.offsets.tolist(), palette)
        | {"text": [str(n) for n in sizes] if T <= NAMED else None, "textfont": text},
    ]
    letters = {"tickmode": "array", "tickvals": list(range(B)), "ticktext": [sequence_label(b) for b in order]}
    layout = {
        "title": {"text": "lengths and batch_sizes", "subtitle": {"text": f"both sum to N = {N}"}},
        "height": 520,
        "showlegend": False,
        "bargap": 0.15,
        "xaxis": {"domain": [0, 1], "anchor": "y", "title": {"text": "sequence, longest first"}, "showgrid": False}
        | (letters if few else {}),
        "yaxis": {"domain": [0.62, 1], "title": {"text": "length<br>(time steps)"}, "rangemode": "tozero"},
        "xaxis2": {"domain": [0, 1], "anchor": "y2", "title": {"text": "time step t"}, "showgrid": False}
        | {"dtick": max(1, T // 10)},
        "yaxis2": {"domain": [0, 0.38], "title": {"text": "batch_sizes[t]<br>(sequences)"}, "rangemode": "tozero"},
    }
    alt = (
        f"Two bar charts: {counted(B, 'sequence')} with lengths from {lengths[0]} down to {lengths[-1]}, "
        f"and batch_sizes of {counted(T, 'time step')} from {sizes[0]} down to {sizes[-1]}; both sum to {N}."
    )
    return drawn(data, layout, alt, palette)


def _lengths(lengths: list[int], order: list[int], palette: Palette) -> dict[str, Any]:
    colors = [sequence_color(b) for b in order]
    return {
        "type": "bar",
        "y": lengths,
        "marker": {"color": colors, "line": {"color": [mix(c, palette.text, 0.35) for c in colors], "width": 1}},
        "hoverinfo": "text",
        "hovertext": [
            f"sequence {sequence_label(b)}: length {n}, sorted row {row}"
            for row, (b, n) in enumerate(zip(order, lengths, strict=True))
        ],
        "textposition": "outside",
        "cliponaxis": False,
    }


def _sizes(sizes: list[int], offsets: list[int], palette: Palette) -> dict[str, Any]:
    return {
        "type": "bar",
        "y": sizes,
        "xaxis": "x2",
        "yaxis": "y2",
        "marker": {"color": palette.now},
        "hoverinfo": "text",
        "hovertext": [
            f"batch_sizes[{t}] = {n}: packed rows {offset} to {offset + n - 1}"
            for t, (n, offset) in enumerate(zip(sizes, offsets, strict=True))
        ],
        "textposition": "outside",
        "cliponaxis": False,
    }
