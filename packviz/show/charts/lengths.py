"""Charts of lengths: with batch_sizes, and as the share of padding."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import plotly.graph_objects as go

from packviz.compute.trace import Trace
from packviz.errors import PackvizError
from packviz.show.charts.template import bars, drawn, named_axis, plain
from packviz.show.theme import LIGHT, Palette, mix, sequence_color
from packviz.text import counted, percent, sequence_label

NAMED = 26  # up to this many bars, each has its number, and each sequence its letter


def margins(trace: Trace, palette: Palette = LIGHT) -> go.Figure:
    """Return lengths, a bar per sequence in sorted order, above batch_sizes, a bar per time step.

    Both add up to N. Raises PackvizError if torch refuses to pack.
    """
    lengths, order = trace.sorted.lengths.tolist(), trace.sorted.order.tolist()
    sizes, offsets = trace.packed.batch_sizes.tolist(), trace.packed.offsets.tolist()
    B, T, N = len(lengths), len(sizes), sum(sizes)
    colors = list(map(sequence_color, order))
    over = [f"sequence {sequence_label(b)}: length {lengths[row]}, sorted row {row}" for row, b in enumerate(order)]
    edges = {"color": [mix(color, palette.text, 0.35) for color in colors], "width": 1}
    above: dict[str, Any] = {"type": "bar", "y": lengths, "text": lengths if B <= NAMED else None, "hovertext": over}
    above["marker"] = {"color": colors, "line": edges}
    rows = [f"batch_sizes[{t}] = {n}: packed rows {offsets[t]} to {offsets[t] + n - 1}" for t, n in enumerate(sizes)]
    below: dict[str, Any] = {"type": "bar", "y": sizes, "text": sizes if T <= NAMED else None, "hovertext": rows}
    below |= {"xaxis": "x2", "yaxis": "y2", "marker": {"color": palette.now}}
    letters = named_axis([sequence_label(b) for b in order]) if B <= NAMED else {}
    return drawn(
        [above, below],
        f"Two bar charts: {counted(B, 'sequence')} with lengths from {lengths[0]} down to {lengths[-1]}, "
        f"and batch_sizes of {counted(T, 'time step')} from {sizes[0]} down to {sizes[-1]}; both sum to {N}.",
        palette,
        title="lengths and batch_sizes",
        subtitle=f"both sum to N = {N}",
        height=520,
        showlegend=False,
        bargap=0.15,
        xaxis={**letters, "anchor": "y", "title": "sequence, longest first", "showgrid": False},
        yaxis={"domain": [0.62, 1], "title": "length<br>(time steps)", "rangemode": "tozero"},
        xaxis2={"anchor": "y2", "title": "time step t", "showgrid": False, "dtick": max(1, T // 10)},
        yaxis2={"domain": [0, 0.38], "title": "batch_sizes[t]<br>(sequences)", "rangemode": "tozero"},
    )


def padding_shares(
    shares: Mapping[str, float], here: float | None = None, palette: Palette = LIGHT, *, own: str = "this batch"
) -> go.Figure:
    """Return a bar for the share of padding of each named kind of lengths, and a marked one for this batch.

    shares, here: from 0.0 to 1.0; they are shown in percent. own: the name of this batch. Raises PackvizError for
    any other number.
    """
    rows = [(name, share, False) for name, share in shares.items()]
    rows += [] if here is None else [(own, here, True)]
    for name, share, _ in rows:
        if not (isfinite(share) and 0 <= share <= 1):
            fix = "divide the pads by all cells of the grid"
            raise PackvizError("shares", expected="shares from 0.0 to 1.0", got=f"{name}: {share}", fix=fix)

    def marked(text: str, mine: bool) -> str:
        return f"<b>{text}</b>" if mine else text

    colors, edges = ([palette.now if own_ else each for *_, own_ in rows] for each in (palette.pad, palette.pad_hatch))
    told = [f"{plain(name)}: {100 * share:.1f}% padding" for name, share, _ in rows]
    texts = [marked(percent(share), mine) for _, share, mine in rows]
    lying = bars(range(len(rows)), [100 * share for _, share, _ in rows], colors, told, text=texts)
    lying["marker"]["line"] = {"color": edges, "width": 1.5}
    line = {"type": "line", "layer": "below", "line": {"color": palette.now, "width": 2, "dash": "dot"}}
    said = ", ".join(f"{name} {percent(share)}" for name, share, _ in rows)
    return drawn(
        [lying],
        f"Bars of the share of padding: {said or 'none'}.",
        palette,
        title="Share of padding" if rows else "Share of padding: no lengths were given",
        height=130 + 42 * max(2, len(rows)),
        showlegend=False,
        xaxis={"title": "padding in the grid (%)", "range": [0, 112], "tickvals": [0, 25, 50, 75, 100]},
        yaxis=named_axis([marked(plain(name), mine) for name, _, mine in rows], autorange="reversed"),
        shapes=[
            line | {"x0": 100 * x, "x1": 100 * x, "yref": "paper", "y0": 0, "y1": 1} for _, x, own_ in rows if own_
        ],
    )
