"""The look that all charts share: one Plotly template for each palette, and how a figure is put together."""

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

import plotly.graph_objects as go

from packviz.theme import CLEAR, SEQUENCE_HUES, Palette, hue

__all__ = ["FONT", "colorscale", "drawn", "plain", "sequence_color", "template"]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
SIZE = 14  # pixels of the smaller text


def drawn(
    data: Sequence[Mapping[str, Any]],
    layout: Mapping[str, Any],
    alt: str,
    palette: Palette,
    *,
    frames: Sequence[Mapping[str, Any]] = (),
    **meta: Any,
) -> go.Figure:
    """Return the figure of plain traces, layout and frames, with one sentence for `alt` in `layout.meta["alt"]`."""
    whole = {**layout, "meta": {"alt": alt, **meta}, "template": template(palette)}
    return go.Figure({"data": list(data), "layout": whole, "frames": list(frames)})


@cache
def template(palette: Palette) -> go.layout.Template:
    """Return the Plotly template of a palette: a clear background, text of 14 px and more, lines that are quiet."""
    axis = {
        "color": palette.text,
        "gridcolor": palette.pad,
        "linecolor": palette.line,
        "tickcolor": palette.line,
        "zerolinecolor": palette.line,
        "tickfont": {"size": SIZE},
        "title": {"font": {"size": SIZE + 1}, "standoff": 8},
        "automargin": True,
    }
    words = {"family": FONT, "size": SIZE, "color": palette.text}
    return go.layout.Template(
        layout={
            "font": words,
            "title": {"font": {"size": SIZE + 3}, "x": 0, "xref": "container", "xanchor": "left", "pad": {"l": 12}}
            | {"subtitle": {"font": {"size": SIZE, "color": palette.quiet}}},
            "paper_bgcolor": CLEAR,
            "plot_bgcolor": CLEAR,
            "colorway": list(SEQUENCE_HUES),
            "xaxis": axis,
            "yaxis": axis,
            "margin": {"l": 12, "r": 12, "t": 64, "b": 12},
            "hoverlabel": {
                "font": {"family": FONT, "size": SIZE, "color": palette.text},
                "bgcolor": palette.surface,
                "bordercolor": palette.line,
                "align": "left",
            },
            "legend": {
                "orientation": "h",
                "x": 0,
                "y": -0.24,
                "yanchor": "top",
                "font": {"size": SIZE},
                "entrywidth": 56,
            },
        }
    )


def colorscale(palette: Palette) -> list[list[float | str]]:
    """Return the palette's diverging stops as Plotly takes them: pairs of a share from 0.0 to 1.0 and a colour."""
    last = len(palette.diverging) - 1
    return [[i / last, color] for i, color in enumerate(palette.diverging)]


def sequence_color(b: int) -> str:
    """Return the hue of sequence `b`."""
    return SEQUENCE_HUES[hue(b)[0]]


def plain(text: str) -> str:
    """Return text that Plotly shows letter for letter: no markup and no formula, whatever somebody typed."""
    return escape(text, quote=False).replace("$", "&#36;").replace("\n", " ")
