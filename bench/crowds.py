"""The same crowd of labelled cells in motion, as a movie for the player and as a Plotly figure with frames."""

from collections.abc import Sequence
from math import ceil, sqrt

import plotly.graph_objects as go  # type: ignore[import-untyped]

from packviz.show.movie.model import Cell, Change, Place, Scene, Step, View
from packviz.show.movie.reel import Movie, Token
from packviz.show.movie.reel import Sequence as Row
from packviz.theme import LIGHT, SEQUENCE_HUES, mix, text_on

__all__ = ["PLOT", "crowd", "figure"]

WIDTH = 1.6  # of a cell, whose height is 1
PLOT = (1400, 876)  # pixels of the figure: those of the player's canvas on the same screen
HUES = len(SEQUENCE_HUES)


def crowd(cells: int, steps: int) -> Movie:
    """Return a movie of a full square of cells; in each step every cell goes to the place opposite to its own."""
    view = View(_columns(cells) * WIDTH, float(_columns(cells)), {"grid": (0.0, 0.0)}, {})
    return Movie(
        title=f"{cells} cells",
        cells=tuple(_cell(i, cells) for i in range(cells)),
        steps=tuple(_step(cells, number) for number in range(steps)),
        scenes={"pack": Scene((view,), (view,))},
        code=(),
        sequences=tuple(Row(_letter(hue), hue, 0) for hue in range(HUES)),
        tokens=tuple(Token(i % HUES, i // HUES, i, "") for i in range(cells)),
        scales={"input": 1.0, "state": 1.0},
        notes=(),
        proof="",
        exact=True,
    )


def figure(cells: int) -> go.Figure:
    """Return the same crowd as a scatter plot with the two frames `0` and `1`."""
    hues = [SEQUENCE_HUES[i % HUES] for i in range(cells)]
    edge = {"width": 1, "color": [mix(hue, LIGHT.text, 0.35) for hue in hues]}
    size = 0.9 * PLOT[1] / _columns(cells)
    still = {
        "mode": "markers+text",
        "ids": [str(i) for i in range(cells)],
        "text": [_name(i) for i in range(cells)],
        "textfont": {"size": size * 0.6, "weight": 700, "color": [text_on(hue) for hue in hues]},
        "marker": {"symbol": "square", "size": size, "color": hues, "line": edge},
    }
    scatters = [go.Scatter(**_places(cells, opposite), **still) for opposite in (False, True)]
    axis = {"visible": False, "range": [-0.5, _columns(cells) - 0.5]}
    return go.Figure(
        scatters[0],
        {"width": PLOT[0], "height": PLOT[1], "xaxis": axis, "yaxis": axis, "margin": dict.fromkeys("lrtb", 0)},
        [go.Frame(data=[scatter], name=str(number)) for number, scatter in enumerate(scatters)],
    )


def _columns(cells: int) -> int:
    return ceil(sqrt(cells))


def _place(i: int, cells: int, opposite: bool) -> tuple[int, int]:
    """Return column and row of a cell."""
    row, column = divmod(cells - 1 - i if opposite else i, _columns(cells))
    return column, row


def _cell(i: int, cells: int) -> Cell:
    column, row = _place(i, cells, False)
    place = Place("grid", column * WIDTH, row)
    return Cell(f"token:{i}", "token", place, WIDTH, text=_name(i), sequence=i % HUES, token=i)


def _step(cells: int, number: int) -> Step:
    if number == 0:
        return Step("pack", "Here.", 0, ())
    places = [_place(i, cells, number % 2 == 1) for i in range(cells)]
    beat = tuple(Change(f"token:{i}", Place("grid", x * WIDTH, y)) for i, (x, y) in enumerate(places))
    return Step("pack", "There.", 0, (beat,))


def _places(cells: int, opposite: bool) -> dict[str, Sequence[int]]:
    xs, ys = zip(*(_place(i, cells, opposite) for i in range(cells)), strict=True)
    return {"x": xs, "y": ys}


def _name(i: int) -> str:
    return str(i % 100)


def _letter(number: int) -> str:
    return chr(ord("A") + number)
