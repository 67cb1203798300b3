"""How much of a padded batch is padding, for several ways in which lengths may be spread."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import plotly.graph_objects as go

from packviz.errors import PackvizError
from packviz.show.charts.template import drawn, plain
from packviz.theme import LIGHT, Palette

__all__ = ["padding_shares"]


def padding_shares(
    shares: Mapping[str, float], here: float | None = None, palette: Palette = LIGHT, *, own: str = "this batch"
) -> go.Figure:
    """Return a bar for the share of padding of each named kind of lengths, and one for this batch, marked.

    shares, here: from 0.0 to 1.0; they are shown in percent. own: what this batch is called. Raises PackvizError for
    any other number.
    """
    rows = [*shares.items(), *([] if here is None else [(own, here)])]
    for name, share in rows:
        if not (isfinite(share) and 0 <= share <= 1):
            mend = "divide the pads by all cells of the grid"
            raise PackvizError("shares", expected="shares from 0.0 to 1.0", came=f"{name}: {share}", mend=mend)
    percents = [100 * share for _, share in rows]
    mine = [here is not None and i == len(rows) - 1 for i in range(len(rows))]
    layout = {
        "title": {"text": "Share of padding" if rows else "Share of padding: no lengths were given"},
        "height": 130 + 42 * max(2, len(rows)),
        "showlegend": False,
        "bargap": 0.3,
        "xaxis": {"title": {"text": "padding in the grid (%)"}, "range": [0, 112], "tickvals": [0, 25, 50, 75, 100]},
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(rows))),
            "ticktext": [_marked(plain(name), own_) for (name, _), own_ in zip(rows, mine, strict=True)],
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
        },
        "shapes": [_mark(percents[-1], palette)] if any(mine) else [],
    }
    said = ", ".join(f"{name} {percent:.0f} %" for (name, _), percent in zip(rows, percents, strict=True))
    return drawn([_bars(rows, mine, palette)], layout, f"Bars of the share of padding: {said or 'none'}.", palette)


def _bars(rows: Sequence[tuple[str, float]], mine: Sequence[bool], palette: Palette) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "y": list(range(len(rows))),
        "x": [100 * share for _, share in rows],
        "text": [_marked(f"{100 * share:.0f} %", own) for (_, share), own in zip(rows, mine, strict=True)],
        "textposition": "outside",
        "cliponaxis": False,
        "textfont": {"color": palette.text},
        "marker": {
            "color": [palette.now if own else palette.pad for own in mine],
            "line": {"color": [palette.now if own else palette.pad_hatch for own in mine], "width": 1.5},
        },
        "hoverinfo": "text",
        "hovertext": [f"{plain(name)}: {100 * share:.1f} % padding" for name, share in rows],
    }


def _mark(percent: float, palette: Palette) -> dict[str, Any]:
    """Return a line down the chart at this batch's own share."""
    ends = {"x0": percent, "x1": percent, "yref": "paper", "y0": 0, "y1": 1}
    return {"type": "line", "layer": "below", "line": {"color": palette.now, "width": 2, "dash": "dot"}, **ends}


def _marked(text: str, strong: bool) -> str:
    return f"<b>{text}</b>" if strong else text
