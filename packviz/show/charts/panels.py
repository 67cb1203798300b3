"""Panels: a few small tensors side by side or stacked, each cell with its number, in its sequence's colour."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from packviz.show.charts.template import drawn, plain
from packviz.show.theme import CLEAR, LIGHT, Palette, diverging, mix, sequence_color, text_on

WIDE = 18  # cells across, by default
CELL = 40  # pixels of a cell's height
HEAD = 1.0  # cells for a panel's title
GAP = 0.7


@dataclass(frozen=True)
class Panel:
    """One small tensor and its presentation."""

    title: str
    texts: tuple[tuple[str, ...], ...]  # row by row, the text of each cell; the rows may have different lengths
    # row by row, the sequence whose colour a cell has, or None for padding and filler; () if `values` are given
    owners: tuple[tuple[int | None, ...], ...] = ()
    # row by row, a number for each cell, shown in the diverging colours; all panels share one scale
    values: tuple[tuple[float, ...], ...] = ()
    wrong: frozenset[tuple[int, int]] = frozenset()  # (row, column) of the wrong cells
    rows: tuple[str, ...] = ()  # their names, or ()
    columns: tuple[str, ...] = ()

    @property
    def head(self) -> float:
        """Return the cells above the first row: the title's, and less than one for the column names."""
        return HEAD + (0.7 if self.columns else 0.0)


def panels(given: Sequence[Panel], palette: Palette = LIGHT, *, wide: int = WIDE) -> go.Figure:
    """Return the panels as one figure, side by side if they are at most `wide` cells wide, else stacked."""
    placed, width, height = _placed(given, wide)
    most = max((abs(value) for panel in given for row in panel.values for value in row), default=0.0) or 1.0
    shapes: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    for panel, left, top in placed:
        words += _names(panel, left, top, palette)
        small = any(len(text) > 4 for row in panel.texts for text in row)
        for i, j in ((i, j) for i, row in enumerate(panel.texts) for j in range(len(row))):
            x, y, fill = left + j, top + panel.head + i, _fill(panel, i, j, palette, most)
            if (i, j) in panel.wrong:  # a double frame, visible on every colour
                shapes.append(_box(x, y, 0.05, palette.background, palette.wrong, 4))
                shapes.append(_box(x, y, 0.1, fill, palette.background, 1))
            else:
                shapes.append(_box(x, y, 0.04, fill, mix(fill, palette.text, 0.35), 1))
            size = 12 if small else 14
            words.append(_word(x + 0.5, y + 0.5, panel.texts[i][j], text_on(fill), "center", size=size))
    sentences = (f"{panel.title}: {'; '.join(' '.join(row) for row in panel.texts)}." for panel in given)
    return drawn(
        [{"type": "scatter", "x": [], "y": []}],
        " ".join(sentences),
        palette,
        height=round(height * CELL) + 24,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        shapes=shapes,
        annotations=words,
        xaxis={"range": [0, max(width, wide)], "visible": False, "fixedrange": True},
        yaxis={"range": [height, 0], "visible": False, "fixedrange": True},
    )


def _placed(given: Sequence[Panel], wide: int) -> tuple[list[tuple[Panel, float, float]], float, float]:
    """Return each panel with the left and top of its cells and title, and the width and height of all."""
    placed: list[tuple[Panel, float, float]] = []
    left, top, tallest, widest = 0.0, 0.0, 0.0, 0.0
    for panel in given:
        columns = max(map(len, panel.texts), default=0)
        names = max((0.4 + 0.26 * len(name) for name in panel.rows), default=0.0)  # cells for the row names
        across = max(columns, 0.24 * len(panel.title)) + names
        if left and left + across > wide:
            left, top, tallest = 0.0, top + tallest + GAP, 0.0
        placed.append((panel, left + names, top))
        tallest = max(tallest, panel.head + len(panel.texts))
        left += across + 2 * GAP
        widest = max(widest, left - 2 * GAP)
    return placed, widest, top + tallest


def _fill(panel: Panel, i: int, j: int, palette: Palette, most: float) -> str:
    if panel.values:
        return diverging(panel.values[i][j] / most, palette)
    owner = panel.owners[i][j] if panel.owners else None
    return palette.pad if owner is None else sequence_color(owner)


def _box(left: float, top: float, gap: float, fill: str, edge: str, width: int) -> dict[str, Any]:
    place = {"x0": left + gap, "x1": left + 1 - gap, "y0": top + gap, "y1": top + 1 - gap}
    return {"type": "rect", "fillcolor": fill, "line": {"color": edge, "width": width}} | place


def _names(panel: Panel, left: float, top: float, palette: Palette) -> Iterator[dict[str, Any]]:
    yield _word(left, top + HEAD / 2, panel.title, palette.text, "left", strong=True)
    for j, name in enumerate(panel.columns):
        yield _word(left + j + 0.5, top + HEAD + 0.35, name, palette.quiet, "center")
    for i, name in enumerate(panel.rows):
        yield _word(left - 0.25, top + panel.head + i + 0.5, name, palette.quiet, "right")


def _word(
    x: float, y: float, text: str, ink: str, anchor: str, *, strong: bool = False, size: int = 14
) -> dict[str, Any]:
    shown = f"<b>{plain(text)}</b>" if strong else plain(text)
    place = {"x": x, "y": y, "xref": "x", "yref": "y", "showarrow": False, "bgcolor": CLEAR}
    return place | {"text": shown, "xanchor": anchor, "yanchor": "middle", "font": {"color": ink, "size": size}}
