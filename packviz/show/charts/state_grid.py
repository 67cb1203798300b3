"""The whole run as a heat map over time: hidden units in a band for each sequence."""

from typing import Any

import plotly.graph_objects as go

from packviz.compute.trace import Trace
from packviz.show.charts.template import colorscale, drawn, sequence_color
from packviz.show.charts.watched import Watched, state_end, watched
from packviz.text import counted, sequence_label
from packviz.theme import LIGHT, Palette

__all__ = ["states"]

SEQUENCES, UNITS, STEPS = 24, 12, 200  # shown at most
GAP = 1  # rows between two bands


def states(trace: Trace, *, layer: int | None = None, direction: int = 0, palette: Palette = LIGHT) -> go.Figure:
    """Return h of one layer and direction as a heat map: time steps across, a band of hidden units a sequence.

    layer: 0 to L - 1, or None for the top one. direction: 0 forward, 1 backward. There is nothing past the end of a
    sequence. The final state has an outline in the sequence's hue: at its last valid step, backward at t = 0. The
    scale ends where the movie's does. The title says how many sequences and units are shown, if not all.
    """
    seen = watched(trace, layer, direction)
    B, T, H = seen.grid.shape
    rows, units, steps = min(B, SEQUENCES), min(H, UNITS), min(T, STEPS)
    end = state_end(trace)
    bands = [(b, b * (units + GAP)) for b in range(rows)]
    heat = _heat(seen, bands, units, steps) | {
        "type": "heatmap",
        "colorscale": colorscale(palette),
        "zmin": -end,
        "zmid": 0,
        "zmax": end,
        "hoverongaps": False,
        "hoverinfo": "text",
        "xgap": 1 if steps <= 40 else 0,
        "colorbar": {"title": {"text": "h", "side": "top"}, "thickness": 14, "outlinewidth": 0, "len": 0.9},
    }
    tall = max(300, min(900, 150 + int(rows * (units + GAP) * max(3.0, min(18.0, 620 / (rows * (units + GAP)))))))
    layout = {
        "title": {"text": f"Hidden states, {seen.name}", "subtitle": {"text": _shown(seen, rows, units, steps)}},
        "height": tall,
        "shapes": [shape for b, top in bands for shape in _outline(seen, b, top, units, steps, palette)],
        "xaxis": {"title": {"text": "time step t"}, "dtick": max(1, steps // 10), "showgrid": False, "zeroline": False},
        "yaxis": {
            "title": {"text": "sequence: hidden units"},
            "tickmode": "array",
            "tickvals": [top + (units - 1) / 2 for _, top in bands],
            "ticktext": [f"<b>{sequence_label(b)}</b>" for b, _ in bands],
            "range": [rows * (units + GAP) - GAP - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
    }
    return drawn([heat], layout, _alt(seen, rows), palette)


def _heat(seen: Watched, bands: list[tuple[int, int]], units: int, steps: int) -> dict[str, Any]:
    """Return z and the texts: a row for each unit, and an empty one between two bands."""
    z: list[list[float | None]] = []
    told: list[list[str]] = []
    for b, _ in bands:
        values, packed = seen.grid[b, :steps, :units].T.tolist(), seen.rows[b].tolist()
        for unit, line in enumerate(values):
            there = [packed[t] >= 0 for t in range(steps)]
            z.append([value if ok else None for value, ok in zip(line, there, strict=True)])
            told.append(
                [
                    f"sequence {sequence_label(b)}, t = {t}, packed row {packed[t]}<br>unit {unit}: h = {value:.4f}"
                    if ok
                    else ""
                    for t, (value, ok) in enumerate(zip(line, there, strict=True))
                ]
            )
        z.extend([[None] * steps] * GAP)
        told.extend([[""] * steps] * GAP)
    return {"z": z[:-GAP], "text": told[:-GAP]}


def _outline(seen: Watched, b: int, top: int, units: int, steps: int, palette: Palette) -> list[dict[str, Any]]:
    """Return the ring around a sequence's final state: dark outside, its hue inside."""
    t = seen.final_step(b)
    if t >= steps:
        return []
    box = {"type": "rect", "x0": t - 0.5, "x1": t + 0.5, "y0": top - 0.5, "y1": top + units - 0.5, "layer": "above"}
    rings = (
        ((palette.text, 5), (sequence_color(b), 3)) if steps <= 20 else ((palette.text, 3), (sequence_color(b), 1.5))
    )
    return [{**box, "line": {"color": color, "width": width}} for color, width in rings]


def _shown(seen: Watched, rows: int, units: int, steps: int) -> str:
    """Say how much is shown where that is not all."""
    B, T, H = seen.grid.shape
    limits = ((rows, B, "sequence"), (units, H, "unit"), (steps, T, "step"))
    parts = [f"{shown} of {counted(there, what)}" for shown, there, what in limits if shown < there]
    return f"showing {', '.join(parts)}" if parts else ""


def _alt(seen: Watched, rows: int) -> str:
    B, T, H = seen.grid.shape
    lengths = ", ".join(f"{sequence_label(b)} {seen.lengths[b]}" for b in range(min(rows, 8)))
    where = "at t = 0" if seen.backward else "at its last valid step"
    return (
        f"Heat map of {counted(H, 'hidden unit')} of {counted(B, 'sequence')} over {counted(T, 'time step')}, "
        f"{seen.name}; lengths {lengths}{' and more' if rows > 8 else ''}; each final state is outlined {where}."
    )
