"""The look shared by all charts: one Plotly template per palette, and the assembly of a figure."""

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

import plotly.graph_objects as go

from packviz.show.theme import CLEAR, FONT, SEQUENCE_HUES, Palette
from packviz.text import counted

SIZE = 14  # pixels of the smaller text


def drawn(
    data: Sequence[Mapping[str, Any]],
    alt: str,
    palette: Palette,
    *,
    title: str = "",
    subtitle: str = "",
    on_top: bool = False,
    **layout: Any,
) -> go.Figure:
    """Return a figure made of plain traces and layout.

    alt: a one-sentence description, kept in `layout.meta["alt"]`. on_top: whether the title starts at the upper edge,
    as it must if it has several lines.
    """
    place = {"y": 1, "yref": "container", "yanchor": "top", "pad": {"l": 12, "t": 16}} if on_top else {}
    heading = {"text": title, "subtitle": {"text": subtitle}, **place}
    return go.Figure(
        {
            "data": list(data),
            "layout": {"title": heading, "meta": {"alt": alt}, "template": template(palette), **layout},
        }
    )


@cache
def template(palette: Palette) -> go.layout.Template:
    """Return the Plotly template of a palette: a transparent background, text of 14 px or more, subdued lines."""
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
    hover = {"hoverinfo": "text"}
    return go.layout.Template(
        data={
            "bar": [{"textposition": "outside", "cliponaxis": False, "textfont": {"color": palette.text}} | hover],
            "heatmap": [{"hoverongaps": False, "colorbar": colorbar} | hover],
            "scatter": [hover],
        },
        layout={
            "font": words,
            "title": {"font": {"size": SIZE + 3}, "x": 0, "xref": "container", "xanchor": "left", "pad": {"l": 12}}
            | {"subtitle": {"font": {"size": SIZE, "color": palette.quiet}}},
            "paper_bgcolor": CLEAR,
            "plot_bgcolor": CLEAR,
            "colorway": list(SEQUENCE_HUES),
            "xaxis": axis,
            "yaxis": axis | {"ticklabelstandoff": 4},  # names do not touch their bars
            "margin": {"l": 12, "r": 12, "t": 64, "b": 12},
            "bargap": 0.3,
            "hoverlabel": {"font": words, "bgcolor": palette.surface, "bordercolor": palette.line, "align": "left"},
            "legend": {"orientation": "h", "x": 0, "y": -0.24, "yanchor": "top", "font": {"size": SIZE}}
            | {"entrywidth": 56},
        },
    )


def named_axis(labels: Sequence[str], places: Sequence[float] = (), **more: Any) -> dict[str, Any]:
    """Return an axis without lines, with labels at these places, or by default at 0, 1, 2 and so on."""
    ticks = {"tickmode": "array", "tickvals": list(places or range(len(labels))), "ticktext": list(labels)}
    return {"showgrid": False, "zeroline": False, **ticks, **more}


def showing(*limits: tuple[int, int, str]) -> str:
    """Return "showing 60 of 70 sequences", or "" if everything is shown.

    limits: how many are shown, how many there are, and the noun.
    """
    parts = [f"{shown} of {counted(total, what)}" for shown, total, what in limits if shown < total]
    return f"showing {', '.join(parts)}" if parts else ""


def heatmap(
    z: Sequence[Sequence[float | None]], hover: Sequence[Sequence[str]], end: float, palette: Palette, **more: Any
) -> dict[str, Any]:
    """Return a heat map on the diverging scale from -end to end, with a hover text on each cell."""
    scale = list(palette.diverging)  # evenly spaced
    return {"type": "heatmap", "z": z, "text": hover, "colorscale": scale, "zmin": -end, "zmid": 0, "zmax": end, **more}


def bars(y: Sequence[Any], x: Sequence[float], color: Any, hover: Sequence[str], **more: Any) -> dict[str, Any]:
    """Return horizontal bars of length x at y, with a hover text on each; color: of all, or one for each."""
    look = {"type": "bar", "orientation": "h", "marker": {"color": color}}
    return {**look, "y": list(y), "x": list(x), "hovertext": list(hover), **more}


def line(
    x: Sequence[float], y: Sequence[float], color: str, hover: Sequence[str], symbol: str = "circle", size: int = 6
) -> dict[str, Any]:
    """Return a line through points, with a mark and a hover text at each."""
    look = {"line": {"color": color, "width": 2.5}, "marker": {"symbol": symbol, "size": size, "color": color}}
    return {"mode": "lines+markers", "x": list(x), "y": list(y), "hovertext": list(hover), **look}


def plain(text: str) -> str:
    """Escape a text so that Plotly shows it literally, without markup or formulas."""
    return escape(text, quote=False).replace("$", "&#36;").replace("\n", " ")
