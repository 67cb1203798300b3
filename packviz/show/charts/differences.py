"""Charts of padded against packed: where the outputs differ, how states drift on pads, which gradients change."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

import plotly.graph_objects as go

from packviz.compute.verify import distance
from packviz.facts.comparison import Comparison
from packviz.facts.padded_gradients import Gradient
from packviz.facts.pads import Drift
from packviz.show.charts.template import bars, drawn, heatmap, line, named_axis, showing
from packviz.show.theme import LIGHT, SEQUENCE_HUES, Palette, sequence_color
from packviz.text import counted, sequence_label

SEQUENCES, STEPS, CURVES = 60, 200, 40  # shown at most
DASHES = ("solid", "dash", "dot", "dashdot")


def difference(comparison: Comparison, palette: Palette = LIGHT) -> go.Figure:
    """Return |padded - packed| as a heat map, sequences down and time steps across; the largest of all features.

    Pads have a cross. The scale ends at the largest difference, but never so low that rounding errors are coloured.
    The title says how much is shown, if not everything.
    """
    B, T = comparison.apart.shape
    rows, steps = min(B, SEQUENCES), min(T, STEPS)
    z = comparison.apart[:rows, :steps].tolist()
    labelled = range(0, rows, max(1, rows // 20))
    hover = [[_hover_text(comparison, b, t) for t in range(steps)] for b in range(rows)]
    end = max([1000 * comparison.tolerance, *(number for line in z for number in line if isfinite(number))])
    upper = replace(palette, diverging=palette.diverging[len(palette.diverging) // 2 :])
    gaps = {"xgap": 1 if steps <= 40 else 0, "ygap": 1 if rows <= 40 else 0}
    heat = heatmap(z, hover, end, upper, zmin=0, zmid=None, colorbar={"title": "difference"}, **gaps)
    pads = (~comparison.real[:rows, :steps]).nonzero().T.tolist()
    marker = {"symbol": "x-thin", "size": 9, "line": {"color": palette.text, "width": 1.5}}
    crosses = {"type": "scatter", "mode": "markers", "x": pads[1], "y": pads[0], "marker": marker, "hoverinfo": "skip"}
    valid = comparison.valid
    both, filler = (distance(comparison.padded[at], comparison.packed[at]) for at in (valid, ~valid))
    alt = (
        f"Heat map of the difference between padded and packed output for {counted(B, 'sequence')} and "
        f"{counted(T, 'time step')}: up to {both:.2g} where both computed, and up to "
        f"{filler:.2g} where the packed side has padding_value; pads have a cross."
    )
    return drawn(
        [heat, crosses],
        alt,
        palette,
        title="|padded − packed|",
        subtitle=showing((rows, B, "sequence"), (steps, T, "step")),
        height=max(260, min(900, 150 + 26 * rows)),
        showlegend=False,
        xaxis={"title": "time step t (× is a pad)", "dtick": max(1, steps // 10), "range": [-0.5, steps - 0.5]}
        | {"showgrid": False, "zeroline": False},
        yaxis=named_axis(
            [f"<b>{sequence_label(b)}</b>" for b in labelled], labelled, title="sequence", range=[rows - 0.5, -0.5]
        ),
    )


def drifts(drift: Drift, palette: Palette = LIGHT) -> go.Figure:
    """Return the distance of each sequence's state from its last valid one, in its hue, by the number of pads."""
    distances = drift.distances
    B, most = len(distances), drift.pads[-1]
    rows = min(B, CURVES)
    curves = []
    for b, moved in enumerate(distances[:rows].tolist()):
        name = sequence_label(b)
        hover = [f"sequence {name} after {k} pads: {norm:.4g}" for k, norm in zip(drift.pads, moved, strict=True)]
        curves.append(line(drift.pads, moved, sequence_color(b), hover) | {"mode": "lines", "name": name})
        curves[-1]["line"]["dash"] = DASHES[b // len(SEQUENCE_HUES) % len(DASHES)]
    ends = ", ".join(f"{sequence_label(b)} {distances[b, 1]:.2g} and {distances[b, -1]:.2g}" for b in range(min(B, 8)))
    alt = (
        f"Curves of how far the hidden state is from the one after the last token, over 0 to {most} pads; after "
        f"one pad and after {most}: {ends}{' and more' if B > 8 else ''}."
    )
    return drawn(
        curves,
        alt,
        palette,
        title="How far h drifts on pads",
        subtitle=showing((rows, B, "sequence")),
        height=380,
        hovermode="closest",
        xaxis={"title": "pads after the last token", "range": [0, most], "dtick": max(1, most // 5)},
        yaxis={"title": "norm of the change of h", "rangemode": "tozero"},
    )


def gradients(rows: Sequence[Gradient], palette: Palette = LIGHT) -> go.Figure:
    """Return two bars per parameter: the distance of its padded gradient from packed, without and with a mask."""
    names = [row.name for row in rows]
    data = []
    for how, key, color in (("without a mask", "unmasked", palette.wrong), ("with a mask", "masked", palette.now)):
        distances = [getattr(row, key) for row in rows]
        hover = [f"{name}, {how}: {x:.3g}" for name, x in zip(names, distances, strict=True)]
        data.append(bars(names, distances, color, hover, name=how))
    data[0]["marker"]["pattern"] = {"shape": "/"}
    said = ", ".join(f"{row.name} {row.unmasked:.2g} and {row.masked:.2g}" for row in rows) or "no parameter"
    alt = f"Bars of the largest difference between padded and packed gradients, without a mask and with one: {said}."
    return drawn(
        data,
        alt,
        palette,
        title="Gradients, padded − packed",
        on_top=True,
        margin={"t": 112},
        height=200 + 44 * max(2, len(rows)),
        barmode="group",
        legend={"entrywidth": 0, "y": 1.0, "yanchor": "bottom"},
        xaxis={"title": "largest difference", "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "showgrid": False, "zeroline": False},
    )


def _hover_text(comparison: Comparison, b: int, t: int) -> str:
    what = "a token" if bool(comparison.real[b, t]) else "a pad"
    packed = "" if bool(comparison.valid[b, t]) else ", not packed: padding_value on the packed side"
    cell = f"sequence {sequence_label(b)}, t = {t}: {what}{packed}"
    return f"{cell}<br>difference {float(comparison.apart[b, t]):.3g}"
