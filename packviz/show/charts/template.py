"""The look that all charts share: one Plotly template for each palette, and how a figure is put together."""

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

import plotly.graph_objects as go

from packviz.text import counted
from packviz.theme import CLEAR, SEQUENCE_HUES, Palette, hue

__all__ = ["TOP_TITLE", "colorscale", "drawn", "named_axis", "plain", "sequence_color", "showing", "template"]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
SIZE = 14  # pixels of the smaller text
TOP_TITLE = {"y": 1, "yref": "container", "yanchor": "top", "pad": {"l": 12, "t": 16}}  # a title of several lines


def drawn(
    data: Sequence[Mapping[str, Any]], layout: Mapping[str, Any], alt: str, palette: Palette, **more: Any
) -> go.Figure:
    """Return the figure of plain traces and layout, with one sentence for `alt` in `layout.meta["alt"]`."""
    whole = {**layout, **more, "meta": {"alt": alt}, "template": template(palette)}
    return go.Figure({"data": list(data), "layout": whole})


@cache
def template(palette: Palette) -> go.layout.Template:
    """Return the Plotly template of a palette: a clear background, text of 14 px and more, lines that are quiet."""
    words = {"family": FONT, "size": SIZE, "color": palette.text}
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
    colorbar = {"title": {"side": "top"}, "thickness": 14, "outlinewidth": 0}
    return go.layout.Template(
        data={
            "bar": [{"textposition": "outside", "cliponaxis": False, "textfont": {"color": palette.text}}],
            "heatmap": [{"hoverinfo": "text", "hoverongaps": False, "colorbar": colorbar}],
        },
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
            "bargap": 0.3,
            "hoverlabel": {"font": words, "bgcolor": palette.surface, "bordercolor": palette.line, "align": "left"},
            "legend": {"orientation": "h", "x": 0, "y": -0.24, "yanchor": "top", "font": {"size": SIZE}}
            | {"entrywidth": 56},
        },
    )


def named_axis(labels: Sequence[str], **more: Any) -> dict[str, Any]:
    """Return an axis without lines that has these labels at 0, 1, 2 and so on."""
    places = {"tickmode": "array", "tickvals": list(range(len(labels))), "ticktext": list(labels)}
    return {"showgrid": False, "zeroline": False, **places, **more}


def showing(*limits: tuple[int, int, str]) -> str:
    """Return how much is shown where that is not all: "showing 60 of 70 sequences"; "" where it is.

    limits: how many are shown, how many there are, and of what.
    """
    parts = [f"{shown} of {counted(there, what)}" for shown, there, what in limits if shown < there]
    return f"showing {', '.join(parts)}" if parts else ""


def colorscale(palette: Palette, first: int = 0) -> list[list[float | str]]:
    """Return the palette's diverging stops from `first` on as Plotly takes them: pairs of a share and a colour."""
    stops = palette.diverging[first:]
    return [[i / (len(stops) - 1), color] for i, color in enumerate(stops)]


def sequence_color(b: int) -> str:
    """Return the hue of sequence `b`."""
    return SEQUENCE_HUES[hue(b)[0]]


def plain(text: str) -> str:
    """Return text that Plotly shows letter for letter: no markup and no formula, whatever somebody typed."""
    return escape(text, quote=False).replace("$", "&#36;").replace("\n", " ")
