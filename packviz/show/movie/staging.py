"""The position of everything in a still picture: cells that are high enough, and wide enough for their texts.

They are drawn in one size and then scaled to their place. The player is different: it lays out cells for a screen.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from packviz.show.movie.frames import Cell, Data, moments

UNIT = 40  # pixels of a unit, which is the height of most cells
WIDEST = 2.6  # the largest aspect ratio of a unit; a word that needs more is shortened
SMALL, TEXT, LINE = 11, 16, 15  # pixels of the smallest text, of text in a cell, and of text beside the cells
MEASURES = json.loads(Path(__file__).with_name("measures.json").read_text(encoding="utf-8"))  # which the player shares
LETTER: float = MEASURES["letter"]  # width of a letter ÷ its height
BOLD: float = MEASURES["bold"]  # and of a bold one
NUMBERED: float = MEASURES["numbered"]  # units: the least width of a number
MARGIN = 12  # pixels around everything
LARGEST = 2.0  # by how much a small picture is enlarged at most
LEGIBLE = 6  # pixels of the smallest text that is drawn, after the scaling
NUMBER = "−0.00"


class Tile(NamedTuple):
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
    """A line of text; at: the anchor of x; y is its middle."""

    x: float
    y: float
    text: str
    px: float
    fill: str
    bold: bool = False
    at: str = "middle"


class Strokes(NamedTuple):
    """Lines of one kind, each from point to point; width 0 fills the areas that they enclose."""

    runs: Sequence[Sequence[tuple[float, float]]]
    color: str
    width: float = 1.0


Shape = Tile | Text | Strokes


class Rect(NamedTuple):
    """A rectangle in pixels."""

    x: float
    y: float
    w: float
    h: float


class Arrangement(NamedTuple):
    """The positions of panels in a box measured in units, and the pitch and the lines of wrapped strips."""

    w: float
    h: float
    at: Mapping[str, Sequence[float]]
    breaks: Mapping[str, Sequence[float]] = MappingProxyType({})

    def rect(self, cell: Cell, unit: float = 1, across: float = 1) -> Rect | None:
        """Return the rectangle of a cell; None if its panel is not in view. unit, across: a unit's height and width."""
        if (at := self.at.get(cell.p)) is None:
            return None
        x, y, w = cell.x, cell.y, cell.w
        if pitch_starts := self.breaks.get(cell.p):
            pitch, *starts = pitch_starts
            line = max(i for i, start in enumerate(starts) if i == 0 or start <= x + 1e-6)
            if line + 1 < len(starts) and x + w > starts[line + 1] + 1e-6:
                w = starts[line + 1] - x - 0.1
            x, y = x - starts[line], y + line * pitch
        return Rect((at[0] + x) * across, (at[1] + y) * unit, w * across, cell.h * unit)


def scaled(shape: Shape, left: float, top: float, scale: float) -> Iterator[Shape]:
    """Yield a shape after it is scaled, and then moved; not a text that would be too small to be read."""
    if isinstance(shape, Strokes):
        runs = [[(left + scale * x, top + scale * y) for x, y in run] for run in shape.runs]
        yield shape._replace(runs=runs, width=scale * shape.width)
        return
    x, y = left + scale * shape.x, top + scale * shape.y
    if isinstance(shape, Tile):
        w, h, edge = scale * shape.w, scale * shape.h, scale * shape.width
        yield shape._replace(x=x, y=y, w=w, h=h, width=edge, round=scale * shape.round)
    elif scale * shape.px >= LEGIBLE:
        yield shape._replace(x=x, y=y, px=scale * shape.px)


class Standing(NamedTuple):
    """A scene: its view, the width of a unit, and the box around everything that is ever visible.

    place: its left and top end in the picture, and by how much it is scaled.
    """

    view: Arrangement
    across: float
    box: Rect
    place: tuple[float, float, float]

    def rect(self, cell: Cell) -> Rect | None:
        """Return the rectangle of a cell; None if its panel is not in view."""
        found = self.view.rect(cell, UNIT, self.across)
        return found and found._replace(x=found.x - self.box.x, y=found.y - self.box.y)


class Staging:
    """The frames of a movie, from its data, in pictures of this size."""

    def __init__(self, data: Data, width: float, height: float) -> None:
        self.data, self.width, self.height, self.frames = data, width, height, [*moments(data)][1:]

    def standing(self, scene: str) -> Standing:
        """Return a scene in the middle of the picture, in the view with all panels that is the largest there."""
        cells = self._seen(scene)
        views = [Arrangement(*self.data["views"][i]) for i in self.data["scenes"][scene][0]]
        most = max(len(view.at) for view in views)
        across = max(UNIT, min(WIDEST * UNIT, max(map(_needed, cells), default=0)))
        whole = (view for view in views if len(view.at) == most)
        best = max(whole, key=lambda view: min(self.width / (view.w * across), self.height / (view.h * UNIT)))
        box = _box(best, cells, across)
        scale = min(LARGEST, self.width / box.w, self.height / box.h)
        place = (self.width - scale * box.w) / 2, (self.height - scale * box.h) / 2, scale
        return Standing(best, across, box, place)

    def scales(self, scene: str, view: Arrangement) -> list[str]:
        """Return the scales of the numbers that are ever visible in a scene, in the panels of a view of it."""
        roles = ((cell.role, cell.vec, cell.scale) for cell in self._seen(scene) if cell.p in view.at)
        return sorted({scale for role, vec, scale in roles if role == "value" or (vec is not None and role != "label")})

    def _seen(self, scene: str) -> Collection[Cell]:
        """Return all cells that are ever visible in a scene; most are the same in many frames."""
        frames = (frame for frame in self.frames if frame.scene == scene)
        return {id(cell): cell for frame in frames for cell in frame.cells if cell.shown}.values()


def _needed(cell: Cell) -> float:
    """Return how wide a unit must be, in pixels, for what is written in a cell."""
    if step := width_of_number(cell):
        return (LETTER * SMALL * len(NUMBER) + 7) / step
    if cell.role == "flag":
        return (LETTER * SMALL * len(cell.text) + 7) / cell.w
    if cell.role in ("token", "ghost") or (cell.role == "value" and cell.text):
        return (BOLD * TEXT * max(len(cell.text), len(cell.sub)) + 7) / cell.w
    return 0.0


def width_of_number(cell: Cell) -> float:
    """Return how wide each number of a cell is that is written, in units; 0 if none is."""
    if cell.text or cell.sub:
        return 0.0
    step = cell.w if cell.role == "value" else cell.w / len(cell.vec) if cell.role == "output" and cell.vec else 0.0
    return step if step >= NUMBERED else 0.0


def _box(view: Arrangement, cells: Collection[Cell], across: float) -> Rect:
    """Return the box around everything in a view, in pixels."""
    ends = list[tuple[float, float, float, float]]()
    for cell in cells:
        if rect := view.rect(cell, UNIT, across):
            wide = LETTER * LINE * len(cell.text) if cell.role in ("title", "note") else rect.w
            x, y, high = min(rect.x, rect.x + wide), min(rect.y, rect.y + rect.h), abs(rect.h)
            ends.append((x, y, x + abs(wide), y + high))
    left, top, right, bottom = (
        pick(sides) for pick, sides in zip((min, min, max, max), zip(*ends, strict=True), strict=True)
    )
    return Rect(left - MARGIN, top - MARGIN, right - left + 2 * MARGIN, bottom - top + 2 * MARGIN)
