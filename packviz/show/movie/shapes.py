"""What a picture is drawn of: boxes, texts and lines."""

from collections.abc import Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    w: float
    h: float
    fill: str | None = None
    edge: str | None = None
    width: float = 1.0
    round: float = 0.0
    dashed: bool = False


class Text(NamedTuple):
    """A line of text; at: where x is in it, and y is its middle."""

    x: float
    y: float
    text: str
    px: float
    fill: str
    bold: bool = False
    at: str = "middle"


class Line(NamedTuple):
    """Lines of one kind, each from point to point; width: 0 for areas that they enclose, filled."""

    runs: Sequence[Sequence[tuple[float, float]]]
    color: str
    width: float = 1.0


Shape = Box | Text | Line
