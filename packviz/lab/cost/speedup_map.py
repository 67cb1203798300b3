"""A map of where packing wins and where it loses: packed ÷ padded over fill and one size."""

from collections.abc import Sequence
from math import log2
from statistics import median
from typing import Any, Literal

import plotly.graph_objects as go

from packviz.lab.cost.sweeping import Point
from packviz.show.charts.template import colorscale, drawn
from packviz.text import counted
from packviz.theme import LIGHT, Palette, diverging, text_on

__all__ = ["winning"]

Across = Literal["batch_size", "hidden_size", "steps"]
Places = dict[tuple[float, int], list["Point"]]

_ACROSS = {"batch_size": "batch size B", "hidden_size": "hidden size H", "steps": "longest length T"}
_TITLE = "Where packing wins"
_TOP = {"y": 1, "yanchor": "top", "pad": {"l": 12, "t": 16}}  # where the title stands: it has more lines than others
_MARKS = {"?": "the runs show no difference", "*": "the machine was busy"}
_LEAST_END = 1.0  # the scale reaches from half to double at least


def winning(points: Sequence[Point], across: Across = "batch_size", palette: Palette = LIGHT) -> go.Figure:
    """Return a map of packed ÷ padded: fill upwards, the batch size (or another size) across, on a log scale.

    Blue is where packing wins, red where it loses. A ratio that the runs do not tell from 1 has a question mark and
    the neutral colour of 1; a star says that the machine was busy. Where several points share a place, it shows the
    median of their ratios. A place without a point stays empty.
    """
    places: Places = {}
    for point in points:
        places.setdefault((point.setting.fill, getattr(point.setting, across)), []).append(point)
    fills, sizes = (sorted({place[i] for place in places}) for i in (0, 1))
    end = max([_LEAST_END, *(abs(_shown(there)) for there in places.values())])
    layout = {
        "title": {
            "text": f"{_TITLE},<br>{_named(points)}" if points else f"{_TITLE}: nothing was measured yet",
            "subtitle": {"text": _key(list(places.values())) if points else ""},
            **_TOP,
        },
        "margin": {"t": 150},
        "height": 296 + 40 * max(3, len(fills)),
        "xaxis": _axis(_ACROSS[across], [f"{size:,}" for size in sizes]),
        "yaxis": _axis("fill (%)", [f"{100 * fill:.3g}" for fill in fills]),
        "annotations": [
            _number(sizes.index(int(size)), fills.index(fill), there, end, palette)
            for (fill, size), there in places.items()
        ],
    }
    return drawn([_heat(places, fills, sizes, end, palette)], layout, _alt(points), palette)


def _heat(
    places: Places, fills: Sequence[float], sizes: Sequence[float], end: float, palette: Palette
) -> dict[str, Any]:
    grid = [[places.get((fill, int(size)), []) for size in sizes] for fill in fills]
    reach = int(end)
    ticks = list(range(-reach, reach + 1, max(1, reach // 3)))
    return {
        "type": "heatmap",
        "x": list(range(len(sizes))),
        "y": list(range(len(fills))),
        "z": [[_shown(there) if there else None for there in row] for row in grid],
        "text": [["<br>".join(_told(point) for point in there) for there in row] for row in grid],
        "hoverinfo": "text",
        "hoverongaps": False,
        "colorscale": colorscale(palette),
        "zmin": -end,
        "zmid": 0,
        "zmax": end,
        "xgap": 2,
        "ygap": 2,
        "colorbar": {
            "title": {"text": "ratio", "side": "top"},
            "thickness": 14,
            "outlinewidth": 0,
            "tickmode": "array",
            "tickvals": ticks,
            "ticktext": [f"{2.0**tick:.3g}" for tick in ticks],
        },
    }


def _number(x: int, y: int, there: Sequence[Point], end: float, palette: Palette) -> dict[str, Any]:
    """Return the ratio in its cell, in black or white as its colour asks for."""
    text = f"{_ratio(_middle(there))}{''.join(_marks(there))}"
    font = {"color": text_on(diverging(_shown(there) / end, palette))}
    return {"x": x, "y": y, "text": text, "showarrow": False, "font": font}


def _marks(there: Sequence[Point]) -> list[str]:
    """Return the marks behind the ratio of a place, of those that the key tells."""
    return ["?"] * (not _sure(there)) + ["*"] * any(point.busy for point in there)


def _key(places: Sequence[Sequence[Point]]) -> str:
    """Return what the numbers and the marks mean, a line each, to fit a phone; a mark only where it occurs."""
    seen = {mark for there in places for mark in _marks(there)}
    told = [f"{mark} {meaning}" for mark, meaning in _MARKS.items() if mark in seen]
    return "<br>".join(["packed ÷ padded: below 1 packing wins", *told])


def _named(points: Sequence[Point]) -> str:
    """Return the cells that were run, each with its passes."""
    setups = (point.setting.setup for point in points)
    ways = (f"{setup.name} {'forward with backward' if setup.backward else 'forward'}" for setup in setups)
    return " and ".join(dict.fromkeys(ways))


def _axis(title: str, labels: Sequence[str]) -> dict[str, Any]:
    ticks = {"tickmode": "array", "tickvals": list(range(len(labels))), "ticktext": list(labels)}
    return {"title": {"text": title}, "showgrid": False, "zeroline": False, **ticks}


def _middle(there: Sequence[Point]) -> float:
    return median(point.ratio for point in there)


def _sure(there: Sequence[Point]) -> bool:
    return any(point.differs for point in there)


def _shown(there: Sequence[Point]) -> float:
    """Return what the colour shows: the log of the ratio, and 0 where the runs show no difference."""
    return log2(_middle(there)) if _sure(there) else 0.0


def _ratio(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio >= 1.95 else f"{ratio:.2f}"


def _told(point: Point) -> str:
    setting = point.setting
    sizes = f"B {setting.batch_size}, T {setting.steps}, H {setting.hidden_size}, fill {100 * setting.fill:.3g} %"
    sure = "" if point.differs else ", no difference that the runs show"
    busy = ", machine busy" if point.busy else ""
    times = f"padded {point.padded_ms:.3g} ms, packed {point.packed_ms:.3g} ms: {_ratio(point.ratio)} times"
    return f"{setting.setup.name}, {sizes}<br>{times}{sure}{busy}"


def _alt(points: Sequence[Point]) -> str:
    if not points:
        return "Map of where packing wins: nothing was measured yet."
    faster = sum(point.differs and point.ratio < 1 for point in points)
    slower = sum(point.differs and point.ratio > 1 for point in points)
    ratios = [point.ratio for point in points]
    return (
        f"Map of packed divided by padded time in {counted(len(points), 'setting')}: packing is faster in {faster}, "
        f"slower in {slower}, no difference shows in {len(points) - faster - slower}; "
        f"ratios from {_ratio(min(ratios))} to {_ratio(max(ratios))}; "
        f"{counted(sum(point.busy for point in points), 'setting')} measured while the machine was busy."
    )
