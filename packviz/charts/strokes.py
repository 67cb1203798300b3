"""What bars cannot be: threads, and dashed outlines, as lines of a few points each."""

from math import nan
from typing import Any

from packviz.charts.geometry import Rect
from packviz.charts.marks import Knot
from packviz.theme import SEQUENCE_HUES, Palette, mix

__all__ = ["THREADS", "WRONGS", "boxed", "curved", "dashed", "threaded"]

THREADS = tuple(f"threads {i}" for i in range(len(SEQUENCE_HUES)))  # layers: a line has one colour
WRONGS = "wrongs"
PARTS = 16  # of a curve
END = Knot(nan, nan)


def curved(rect: Rect) -> list[Knot]:
    """Return the knots of a thread from a corner of a rectangle to the opposite one; its height may be below 0."""
    x, y, w, h = rect
    shares = [i / PARTS for i in range(PARTS + 1)]
    bends = [(share * (1.5 - 1.5 * share + share**2), share**2 * (3 - 2 * share)) for share in shares]
    return [*(Knot(x + w * along, y + h * down) for along, down in bends), END]


def boxed(rect: Rect) -> list[Knot]:
    """Return the knots of the outline of a rectangle."""
    x, y, w, h = rect
    return [Knot(x, y), Knot(x + w, y), Knot(x + w, y + h), Knot(x, y + h), Knot(x, y), END]


def threaded(hue: str, palette: Palette) -> dict[str, Any]:
    """Return the trace of all threads of one hue."""
    return _lined({"color": mix(hue, palette.text, 0.35), "width": 2.6})


def dashed(palette: Palette) -> dict[str, Any]:
    """Return the trace of all outlines around what is wrong."""
    return _lined({"color": palette.wrong, "width": 3, "dash": "6px,3px"})


def _lined(line: dict[str, Any]) -> dict[str, Any]:
    return {"type": "scatter", "mode": "lines", "cliponaxis": False, "line": {"simplify": False, **line}}
