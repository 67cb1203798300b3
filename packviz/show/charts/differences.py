"""Padded beside packed, as charts: where the outputs differ, how states drift on pads, which gradients move."""

from math import isfinite
from typing import Any

import plotly.graph_objects as go

from packviz.facts.comparison import Comparison
from packviz.facts.losses import Losses
from packviz.facts.pad_drift import Drift
from packviz.show.charts.template import drawn, sequence_color
from packviz.text import counted, sequence_label
from packviz.theme import LIGHT, Palette, hue

__all__ = ["difference", "drifts", "gradients"]

SEQUENCES, STEPS, CURVES = 60, 200, 40  # shown at most
DASHES = ("solid", "dash", "dot", "dashdot")


def difference(comparison: Comparison, palette: Palette = LIGHT) -> go.Figure:
    """Return |padded - packed| as a heat map, sequences down and time steps across; the largest of all features.

    Pads have a cross. The scale ends at the largest difference, and never so low that rounding has a colour. The title
    says how much is shown, if not all.
    """
    B, T = comparison.apart.shape
    rows, steps = min(B, SEQUENCES), min(T, STEPS)
    z = comparison.apart[:rows, :steps].tolist()
    most = max((number for line in z for number in line if isfinite(number)), default=0.0)
    middle = len(palette.diverging) // 2
    stops = palette.diverging[middle:]
    heat = {
        "type": "heatmap",
        "z": z,
        "text": _told(comparison, z),
        "hoverinfo": "text",
        "colorscale": [[i / (len(stops) - 1), color] for i, color in enumerate(stops)],
        "zmin": 0,
        "zmax": max(most, 1000 * comparison.tolerance),
        "xgap": 1 if steps <= 40 else 0,
        "ygap": 1 if rows <= 40 else 0,
        "colorbar": {"title": {"text": "difference", "side": "top"}, "thickness": 14, "outlinewidth": 0},
    }
    layout = {
        "title": {"text": "|padded − packed|", "subtitle": {"text": _shown((rows, B, "sequence"), (steps, T, "step"))}},
        "height": max(260, min(900, 150 + 26 * rows)),
        "showlegend": False,
        "xaxis": {"title": {"text": "time step t (× is a pad)"}, "dtick": max(1, steps // 10), "showgrid": False}
        | {"zeroline": False, "range": [-0.5, steps - 0.5]},
        "yaxis": {
            "title": {"text": "sequence"},
            "tickmode": "array",
            "tickvals": list(range(0, rows, max(1, rows // 20))),
            "ticktext": [f"<b>{sequence_label(b)}</b>" for b in range(0, rows, max(1, rows // 20))],
            "range": [rows - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
    }
    pads = (~comparison.real[:rows, :steps]).nonzero().tolist()
    return drawn([heat, _crosses(pads, palette)], layout, _difference_alt(comparison), palette)


def drifts(drift: Drift, palette: Palette = LIGHT) -> go.Figure:
    """Return how far the state of each sequence is from its last valid one, in its hue, over the pads after it."""
    distances = drift.distances
    B, most = len(distances), drift.pads[-1]
    rows, pads = min(B, CURVES), list(drift.pads)
    curves = [_curve(b, distances[b].tolist(), pads) for b in range(rows)]
    layout = {
        "title": {"text": "How far h drifts on pads", "subtitle": {"text": _shown((rows, B, "sequence"))}},
        "height": 380,
        "hovermode": "closest",
        "xaxis": {"title": {"text": "pads after the last token"}, "range": [0, most], "dtick": max(1, most // 5)},
        "yaxis": {"title": {"text": "norm of the move of h"}, "rangemode": "tozero"},
    }
    ends = ", ".join(f"{sequence_label(b)} {distances[b, 1]:.2g} and {distances[b, -1]:.2g}" for b in range(min(B, 8)))
    alt = (
        f"Curves of how far the hidden state is from the one after the last token, over 0 to {most} pads; after "
        f"one pad and after {most}: {ends}{' and more' if B > 8 else ''}."
    )
    return drawn(curves, layout, alt, palette)


def gradients(losses: Losses, palette: Palette = LIGHT) -> go.Figure:
    """Return two bars for each parameter: how far its padded gradient is from packed, without a mask and with one."""
    rows = losses.gradients
    names = [row.name for row in rows]
    series = (
        ("without a mask", [row.unmasked for row in rows], palette.wrong, "/"),
        ("with a mask", [row.masked for row in rows], palette.now, ""),
    )
    layout = {
        "title": {
            "text": "Gradients, padded − packed",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 16, "l": 12},
        },
        "margin": {"t": 112},
        "height": 200 + 44 * max(2, len(rows)),
        "barmode": "group",
        "bargap": 0.25,
        "legend": {"entrywidth": 0, "y": 1.0, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "largest distance"}, "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "showgrid": False, "zeroline": False},
    }
    alt = "Bars of the largest distance between padded and packed gradients, without a mask and with one: " + (
        ", ".join(f"{row.name} {row.unmasked:.2g} and {row.masked:.2g}" for row in rows) or "no parameter"
    )
    return drawn([_bars(*part, names) for part in series], layout, f"{alt}.", palette)


def _told(comparison: Comparison, z: list[list[float]]) -> list[list[str]]:
    def cell(b: int, t: int, number: float) -> str:
        what = "a token" if bool(comparison.real[b, t]) else "a pad"
        packed = "" if bool(comparison.valid[b, t]) else ", not packed: filler on the packed side"
        return f"sequence {sequence_label(b)}, t = {t}: {what}{packed}<br>difference {number:.3g}"

    return [[cell(b, t, number) for t, number in enumerate(line)] for b, line in enumerate(z)]


def _crosses(pads: list[list[int]], palette: Palette) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [t for _, t in pads],
        "y": [b for b, _ in pads],
        "marker": {"symbol": "x-thin", "size": 9, "line": {"color": palette.text, "width": 1.5}},
        "hoverinfo": "skip",
    }


def _curve(b: int, distances: list[float], pads: list[int]) -> dict[str, Any]:
    label = sequence_label(b)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": label,
        "x": pads,
        "y": distances,
        "line": {"color": sequence_color(b), "width": 2.5, "dash": DASHES[hue(b)[1] % len(DASHES)]},
        "hovertemplate": f"sequence {label} after %{{x}} pads: %{{y:.4g}}<extra></extra>",
    }


def _bars(name: str, distances: list[float], color: str, shape: str, names: list[str]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": names,
        "x": distances,
        "marker": {"color": color, "pattern": {"shape": shape}},
        "hovertemplate": f"%{{y}}, {name}: %{{x:.3g}}<extra></extra>",
    }


def _difference_alt(comparison: Comparison) -> str:
    B, T = comparison.apart.shape
    return (
        f"Heat map of the difference between padded and packed output for {counted(B, 'sequence')} and "
        f"{counted(T, 'time step')}: up to {comparison.at_valid:.2g} where both computed, and up to "
        f"{comparison.at_pads:.2g} where the packed side has filler; pads have a cross."
    )


def _shown(*limits: tuple[int, int, str]) -> str:
    """Say how much is shown where that is not all."""
    parts = [f"{shown} of {counted(there, what)}" for shown, there, what in limits if shown < there]
    return f"showing {', '.join(parts)}" if parts else ""
