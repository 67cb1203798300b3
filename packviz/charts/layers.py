"""Marks of all frames, layer by layer, as Plotly traces: the same points in every frame, each with its own id."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import nan
from typing import Any

import numpy as np

from packviz.charts.marks import Drawn, Knot, Stroke, Tile, Word
from packviz.charts.strokes import THREADS, WRONGS, dashed, threaded
from packviz.theme import SEQUENCE_HUES, Palette

__all__ = ["layered"]

Frame = Sequence[tuple[str, Iterable[Drawn]]]  # each cell's id, and its marks
Column = list[str] | np.ndarray[Any, np.dtype[np.float32]]  # arrays, for Plotly looks at every entry of a list
LAYERS = ("ground", "tokens", "numbers", "stripes", "rings", "hatch", *THREADS, WRONGS, "words")  # the lowest first
SILENT = ("stripes", "rings", "hatch", *THREADS, WRONGS, "words")
UNSEEN = 0.1  # pixels of height that leave nothing to point at
EMPTY = "\u00a0"  # Plotly throws away the point of an empty text, and with it the way from here to there


def layered(frames: Sequence[Frame], palette: Palette) -> tuple[list[dict[str, Any]], list[list[dict[str, Any]]]]:
    """Return the traces as they are at first, and for each frame what differs in them.

    What never changes stands in the first traces alone, and an empty layer is left out. A mark that is hidden stands
    where it will appear, or where it was last: unseen, and without a word when one points at it.
    """
    seen: dict[str, dict[str, dict[int, Any]]] = {layer: {} for layer in LAYERS}
    for k, frame in enumerate(frames):
        for cell, marks in frame:
            for layer, slot, mark in marks:
                seen[layer].setdefault(f"{cell}/{slot}" if slot else cell, {})[k] = mark
    order = {cell: i for i, (cell, _) in enumerate(frames[0])}
    data: list[dict[str, Any]] = []
    changes: list[list[dict[str, Any]]] = [[] for _ in frames]
    for layer, points in ((layer, points) for layer, points in seen.items() if points):
        ids = sorted(points, key=lambda name: order[name.partition("/")[0]])
        trace, columns = _trace(layer, ids, [points[name] for name in ids], len(frames), palette)
        data.append(trace)
        for k, change in enumerate(columns):
            changes[k].append(change)
    return data, changes


def _trace(
    layer: str, ids: list[str], points: list[dict[int, Any]], count: int, palette: Palette
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the trace of a layer as it is at first, and what differs in it in each frame."""
    base, columns_of = _KINDS.get(layer, (_bars, _tiles))
    frames = _moments(points, count)
    tables = [columns_of(marks) for marks in frames]
    if layer in SILENT:
        for table in tables:
            table.pop("hovertext", None)
    changing = [name for name in tables[0] if any(not _alike(table[name], tables[0][name]) for table in tables)]
    trace = {**base(palette), "name": layer, "uid": layer, "ids": ids}
    kind = {"type": trace["type"]}
    trace |= {"hoverinfo": "skip"} if layer in SILENT else {"hoverinfo": "text"}
    changes = [kind | _nested({name: table[name] for name in changing}) for table in tables]
    return _merged(trace, _nested(tables[0])), changes


def _moments(points: list[dict[int, Any]], count: int) -> list[list[tuple[Any, bool]]]:
    """Return for each frame every point's mark and whether it is shown."""
    frames: list[list[tuple[Any, bool]]] = [[] for _ in range(count)]
    for marks in points:
        there = marks[max(marks)]
        for k in reversed(range(count)):
            there = marks.get(k, there)
            frames[k].append((there, k in marks))
    return frames


def _tiles(marks: list[tuple[Tile, bool]]) -> dict[str, Column]:
    return {
        "x": _numbers(mark.x + mark.w / 2 for mark, _ in marks),
        "base": _numbers(mark.y for mark, _ in marks),
        "width": _numbers(mark.w for mark, _ in marks),
        "y": _numbers(mark.h if shown else UNSEEN for mark, shown in marks),
        "marker.color": [mark.fill for mark, _ in marks],
        "marker.opacity": _numbers(shown for _, shown in marks),
        "marker.line.color": [mark.edge for mark, _ in marks],
        "marker.line.width": _numbers(mark.line for mark, _ in marks),
        "hovertext": [mark.tip for mark, _ in marks],
    }


def _words(marks: list[tuple[Word, bool]]) -> dict[str, Column]:
    return {
        "x": _numbers(mark.x for mark, _ in marks),
        "y": _numbers(mark.y for mark, _ in marks),
        "text": [mark.text if shown and mark.text else EMPTY for mark, shown in marks],
        "textposition": [mark.at for mark, _ in marks],
        "textfont.size": _numbers(mark.px for mark, _ in marks),
        "textfont.color": [mark.color for mark, _ in marks],
    }


def _strokes(marks: list[tuple[Stroke, bool]]) -> dict[str, Column]:
    return {
        "x": _numbers(mark.x for mark, _ in marks),
        "y": _numbers(mark.y for mark, _ in marks),
        "marker.size": _numbers(mark.px for mark, _ in marks),
        "marker.opacity": _numbers(0.5 * shown for _, shown in marks),
    }


def _knots(marks: list[tuple[Knot, bool]]) -> dict[str, Column]:
    return {
        "x": _numbers(mark.x if shown else nan for mark, shown in marks),
        "y": _numbers(mark.y if shown else nan for mark, shown in marks),
    }


def _alike(one: Column, other: Column) -> bool:
    return one == other if isinstance(one, list) else np.array_equal(one, other, equal_nan=True)


def _numbers(values: Iterable[float]) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.fromiter(values, np.float32).round(1)


def _bars(palette: Palette) -> dict[str, Any]:
    del palette
    return {"type": "bar"}


def _texts(palette: Palette) -> dict[str, Any]:
    del palette
    return {"type": "scatter", "mode": "text", "cliponaxis": False}


def _hatching(palette: Palette) -> dict[str, Any]:
    return {"type": "scatter", "mode": "markers", "marker": {"symbol": "line-ne-open", "color": palette.pad_hatch}}


_KINDS: Mapping[str, tuple[Callable[[Palette], dict[str, Any]], Callable[[Any], dict[str, Column]]]] = {
    "hatch": (_hatching, _strokes),
    "words": (_texts, _words),
    WRONGS: (dashed, _knots),
    **{name: (partial(threaded, hue), _knots) for name, hue in zip(THREADS, SEQUENCE_HUES, strict=True)},
}


def _nested(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return {"marker.color": ...} as {"marker": {"color": ...}}."""
    nested: dict[str, Any] = {}
    for name, column in table.items():
        *above, own = name.split(".")
        inner = nested
        for part in above:
            inner = inner.setdefault(part, {})
        inner[own] = column
    return nested


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    both = {name: one[name] | other[name] for name in one.keys() & other.keys() if isinstance(one[name], dict)}
    return one | other | both
