"""Where panels stand: beside and above one another, as large as the screen lets them be."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Box", "Margins", "Scene", "above", "beside", "panel", "scene", "tried"]

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

    def to_dict(self) -> dict[str, Any]:
        """Return where each panel stands, and where each strip goes on to a new line, as the player reads it."""
        broken = {name: [_short(x) for x in starts] for name, starts in self.breaks.items() if len(starts) > 2}
        return {
            "w": _short(self.width),
            "h": _short(self.height),
            "at": {name: [_short(x), _short(y)] for name, (x, y) in self.panels.items()},
            **({"breaks": broken} if broken else {}),
        }

    def _moved(self, dx: float, dy: float) -> dict[str, tuple[float, float]]:
        return {name: (x + dx, y + dy) for name, (x, y) in self.panels.items()}


Arrangement = Callable[[float], Box]


@dataclass(frozen=True, slots=True)
class Scene:
    """Where panels may stand, wide or tall as the screen is; of several ways the one with the largest cells wins."""

    wide: tuple[Box, ...]
    tall: tuple[Box, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the player."""
        wide, tall = ([box.to_dict() for box in boxes] for boxes in (self.wide, self.tall))
        return {"wide": wide} if wide == tall else {"wide": wide, "tall": tall}


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


def _views(arrangements: Sequence[Arrangement], aspects: Sequence[float]) -> tuple[Box, ...]:
    best: dict[int, Box] = {}
    for arrange in arrangements:
        boxes = list(tried(arrange))
        best |= {id(box): box for box in (_largest(boxes, aspect) for aspect in aspects)}
    return tuple(best.values())


def tried(arrange: Arrangement) -> Iterator[Box]:
    """Yield what an arrangement makes of each length of a line, until every strip is one line."""
    for capacity in CAPACITIES:
        box = arrange(capacity)
        yield box
        if all(len(starts) <= 2 for starts in box.breaks.values()):
            return


def _largest(boxes: Sequence[Box], aspect: float) -> Box:
    return min(boxes, key=lambda box: (round(max(box.width / aspect, box.height), 3), box.lines))


def _short(units: float) -> float:
    return round(units, 3) if units % 1 else int(units)
