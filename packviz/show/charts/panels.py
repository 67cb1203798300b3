"""Panels: a few small tensors beside or below each other, each cell with its number, in its sequence's colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from packviz.show.charts.template import drawn, plain, sequence_color
from packviz.theme import CLEAR, LIGHT, Palette, diverging, mix, text_on

__all__ = ["Panel", "panels"]

WIDE = 18  # cells across, if nothing else is said
CELL = 40  # pixels of a cell's height
HEAD = 1.0  # cells for a panel's title
GAP = 0.7


@dataclass(frozen=True)
class Panel:
    """Hold one small tensor as it is to be shown.

    texts    row by row, what stands in each cell; the rows may be of different lengths
    owners   row by row, the sequence whose colour a cell has, or None for padding and filler; () where `values` say
    values   row by row, a number for each cell: the diverging colours instead; the scale is that of all panels
    wrong    (row, column) of the cells that are not what was wanted
    rows, columns   their names, or ()
    """

    title: str
    texts: tuple[tuple[str, ...], ...]
    owners: tuple[tuple[int | None, ...], ...] = ()
    values: tuple[tuple[float, ...], ...] = ()
    wrong: frozenset[tuple[int, int]] = frozenset()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def size(self) -> tuple[int, int]:
        """Return rows and columns."""
        return len(self.texts), max((len(row) for row in self.texts), default=0)


@dataclass(frozen=True)
class _Placed:
    panel: Panel
    left: float
    top: float


def panels(given: Sequence[Panel], palette: Palette = LIGHT, *, wide: int = WIDE) -> go.Figure:
    """Return the panels as one figure, side by side while they are at most `wide` cells, else below each other."""
    placed, width, height = _placed(given, wide)
    most = max((abs(value) for panel in given for row in panel.values for value in row), default=0.0) or 1.0
    shapes = [shape for each in placed for shape in _cells(each, palette, most)]
    words = [word for each in placed for word in (*_names(each, palette), *_texts(each, palette, most))]
    return drawn(
        [{"type": "scatter", "x": [], "y": []}],
        _alt(given),
        palette,
        height=round(height * CELL) + 24,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        shapes=shapes,
        annotations=words,
        xaxis={"range": [0, max(width, wide)], "visible": False, "fixedrange": True},
        yaxis={"range": [height, 0], "visible": False, "fixedrange": True},
    )


def _placed(given: Sequence[Panel], wide: int) -> tuple[list[_Placed], float, float]:
    placed: list[_Placed] = []
    left, top, tallest, widest = 0.0, 0.0, 0.0, 0.0
    for panel in given:
        rows, columns = panel.size
        names = max((0.4 + 0.26 * len(name) for name in panel.rows), default=0.0)  # cells for the names of the rows
        across = max(columns, 0.24 * len(panel.title)) + names
        if left and left + across > wide:
            left, top, tallest = 0.0, top + tallest + GAP, 0.0
        placed.append(_Placed(panel, left + names, top))
        tallest = max(tallest, HEAD + (0.7 if panel.columns else 0.0) + rows)
        left += across + 2 * GAP
        widest = max(widest, left - 2 * GAP)
    return placed, widest, top + tallest


def _spots(each: _Placed) -> Iterator[tuple[int, int, float, float]]:
    """Yield row, column, left and top of each cell."""
    top = each.top + HEAD + (0.7 if each.panel.columns else 0.0)
    for i, row in enumerate(each.panel.texts):
        for j in range(len(row)):
            yield i, j, each.left + j, top + i


def _fill(panel: Panel, i: int, j: int, palette: Palette, most: float) -> str:
    if panel.values:
        return diverging(panel.values[i][j] / most, palette)
    owner = panel.owners[i][j] if panel.owners else None
    return palette.pad if owner is None else sequence_color(owner)


def _cells(each: _Placed, palette: Palette, most: float) -> Iterator[dict[str, Any]]:
    """Yield each cell; one that is wrong has a double frame, which shows on every colour."""
    for i, j, left, top in _spots(each):
        fill = _fill(each.panel, i, j, palette, most)
        if (i, j) not in each.panel.wrong:
            yield _box(left, top, 0.04, fill, mix(fill, palette.text, 0.35), 1)
            continue
        yield _box(left, top, 0.05, palette.background, palette.wrong, 4)
        yield _box(left, top, 0.1, fill, palette.background, 1)


def _box(left: float, top: float, gap: float, fill: str, edge: str, width: int) -> dict[str, Any]:
    place = {"x0": left + gap, "x1": left + 1 - gap, "y0": top + gap, "y1": top + 1 - gap}
    return {"type": "rect", "fillcolor": fill, "line": {"color": edge, "width": width}} | place


def _texts(each: _Placed, palette: Palette, most: float) -> Iterator[dict[str, Any]]:
    small = any(len(text) > 4 for row in each.panel.texts for text in row)
    for i, j, left, top in _spots(each):
        ink = text_on(_fill(each.panel, i, j, palette, most))
        yield _word(left + 0.5, top + 0.5, each.panel.texts[i][j], ink, "center", size=12 if small else 14)


def _names(each: _Placed, palette: Palette) -> Iterator[dict[str, Any]]:
    panel, top = each.panel, each.top + HEAD
    yield _word(each.left, each.top + HEAD / 2, panel.title, palette.text, "left", strong=True)
    for j, name in enumerate(panel.columns):
        yield _word(each.left + j + 0.5, top + 0.35, name, palette.quiet, "center")
    for i, name in enumerate(panel.rows):
        yield _word(each.left - 0.25, top + i + (0.7 if panel.columns else 0.0) + 0.5, name, palette.quiet, "right")


def _word(
    x: float, y: float, text: str, ink: str, anchor: str, *, strong: bool = False, size: int = 14
) -> dict[str, Any]:
    shown = f"<b>{plain(text)}</b>" if strong else plain(text)
    place = {"x": x, "y": y, "xref": "x", "yref": "y", "showarrow": False, "bgcolor": CLEAR}
    return place | {"text": shown, "xanchor": anchor, "yanchor": "middle", "font": {"color": ink, "size": size}}


def _alt(given: Sequence[Panel]) -> str:
    told = []
    for panel in given:
        rows = "; ".join(" ".join(row) for row in panel.texts)
        told.append(f"{panel.title}: {rows}.")
    return " ".join(told)
