"""Where panels stand: beside and above one another, as large as the screen lets them be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from packviz.show.movie.model import Scene, View

__all__ = ["Box", "Margins", "above", "beside", "panel", "scene"]

WIDE, TALL = (2.2, 1.8, 1.5, 1.25), (1.0, 0.8, 0.6)  # width by height of pictures on a desk and in a hand
CAPACITIES = tuple(round(7 * 1.25**i) for i in range(16))  # units in one line of a strip, tried in turn: 7 to 199


@dataclass(frozen=True, slots=True)
class Margins:
    """Room around the body of a panel, in units, for headings and labels."""

    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with panels in it: each panel's origin is the upper left corner of its body."""

    width: float
    height: float
    panels: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    breaks: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def lines(self) -> int:
        """How many lines its strips have."""
        return sum(map(len, self.breaks.values()))

    def _moved(self, dx: float, dy: float) -> dict[str, tuple[float, float]]:
        return {name: (x + dx, y + dy) for name, (x, y) in self.panels.items()}


Arrangement = Callable[[float], Box]


def panel(name: str, width: float, height: float, margins: Margins) -> Box:
    """Return a box around a body of this size, with its margins."""
    return Box(
        width + margins.left + margins.right, height + margins.top + margins.bottom, {name: (margins.left, margins.top)}
    )


def beside(*boxes: Box, gap: float = 1.0) -> Box:
    """Return the boxes in a row, their upper edges level."""
    x = 0.0
    panels: dict[str, tuple[float, float]] = {}
    breaks: dict[str, tuple[float, ...]] = {}
    for box in boxes:
        panels |= box._moved(x, 0.0)
        breaks |= dict(box.breaks)
        x += box.width + gap
    return Box(x - gap, max(box.height for box in boxes), panels, breaks)


def above(*boxes: Box, gap: float = 0.7) -> Box:
    """Return the boxes in a column, their left edges level."""
    y = 0.0
    panels: dict[str, tuple[float, float]] = {}
    breaks: dict[str, tuple[float, ...]] = {}
    for box in boxes:
        panels |= box._moved(0.0, y)
        breaks |= dict(box.breaks)
        y += box.height + gap
    return Box(max(box.width for box in boxes), y - gap, panels, breaks)


def scene(wide: Sequence[Arrangement], tall: Sequence[Arrangement] | None = None) -> Scene:
    """Return the scene whose cells come out largest: each arrangement takes the length of a strip's line."""
    return Scene(_views(wide, WIDE), _views(tall or wide, TALL))


def _views(arrangements: Sequence[Arrangement], aspects: Sequence[float]) -> tuple[View, ...]:
    best: dict[int, Box] = {}
    for arrange in arrangements:
        boxes = [arrange(capacity) for capacity in CAPACITIES]
        best |= {id(box): box for box in (_largest(boxes, aspect) for aspect in aspects)}
    return tuple(View(box.width, box.height, dict(box.panels), dict(box.breaks)) for box in best.values())


def _largest(boxes: Sequence[Box], aspect: float) -> Box:
    return min(boxes, key=lambda box: (round(max(box.width / aspect, box.height), 3), box.lines))
