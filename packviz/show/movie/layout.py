"""Where panels stand: beside and above one another, as large as the screen lets them be."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

WIDE, TALL = (2.2, 1.8, 1.5, 1.25), (1.0, 0.8, 0.6)  # width by height of pictures on a desk and in a hand
LINES = tuple(round(7 * 1.25**i) for i in range(16))  # units in one line of a strip that are tried: 7 to 199
Units = Any  # one number, or a column with one for each of LINES


@dataclass(frozen=True, slots=True)
class Margins:
    """Room around the body of a panel, in units, for headings and labels."""

    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with panels in it: each panel's origin is the upper left corner of its body.

    breaks: of each strip, for each of LINES, its pitch and where its lines start. lines: how many of them there are.
    """

    width: Units
    height: Units
    panels: Mapping[str, tuple[Units, Units]]
    breaks: Mapping[str, Sequence[tuple[float, ...]]] = field(default_factory=dict)
    lines: Units = 0

    def at_least(self, width: float) -> "Box":
        """Return the box at least so wide."""
        return replace(self, width=_largest([self.width, width]))

    def choices(self, aspects: Sequence[float]) -> list[int]:
        """Return which of LINES makes cells largest in pictures of these widths by height, with the fewest lines."""
        if not self.breaks:
            return [0]
        sizes = np.maximum(self.width / np.array(aspects)[:, None], self.height).round(3)
        return [*dict.fromkeys(np.lexsort((self.lines + 0 * sizes, sizes))[:, 0].tolist())]

    def to_dict(self, choice: int) -> dict[str, Any]:
        """Return where each panel stands, and where each strip goes on to a new line, as the player reads it."""

        def one(units: Units) -> float:
            return short(units[choice] if isinstance(units, np.ndarray) else units)

        at = {name: [one(x), one(y)] for name, (x, y) in self.panels.items()}
        strips = {name: starts[choice] for name, starts in self.breaks.items()}
        broken = {name: list(map(short, starts)) for name, starts in strips.items() if len(starts) > 2}
        return {"w": one(self.width), "h": one(self.height), "at": at, **({"breaks": broken} if broken else {})}


@dataclass(frozen=True, slots=True)
class Scene:
    """Ways to set the panels on a wide screen, and on a tall one if not the same; that with the largest cells wins."""

    wide: Sequence[Box]
    tall: Sequence[Box] = ()


def panel(name: str, width: Units, height: Units, margins: Margins) -> Box:
    """Return a box around a body of this size, with its margins."""
    return Box(
        width + margins.left + margins.right, height + margins.top + margins.bottom, {name: (margins.left, margins.top)}
    )


def beside(*boxes: Box, gap: float = 1.0) -> Box:
    """Return the boxes in a row, their upper edges level."""
    x: Units = 0.0
    panels: dict[str, tuple[Units, Units]] = {}
    for box in boxes:
        panels |= {name: (left + x, top) for name, (left, top) in box.panels.items()}
        x += box.width + gap
    return _joined(boxes, x - gap, _largest([box.height for box in boxes]), panels)


def above(*boxes: Box, gap: float = 0.7) -> Box:
    """Return the boxes in a column, their left edges level."""
    y: Units = 0.0
    panels: dict[str, tuple[Units, Units]] = {}
    for box in boxes:
        panels |= {name: (left, top + y) for name, (left, top) in box.panels.items()}
        y += box.height + gap
    return _joined(boxes, _largest([box.width for box in boxes]), y - gap, panels)


def plain(scenes: Mapping[str, Scene]) -> dict[str, Any]:
    """Return the views of all scenes, each once, and of each scene which of them it has, as the player reads them."""
    views: list[dict[str, Any]] = []
    known: dict[tuple[int, int], int] = {}

    def numbers(boxes: Sequence[Box], aspects: Sequence[float]) -> Iterator[int]:
        for box in boxes:
            for choice in box.choices(aspects):
                if (id(box), choice) not in known:
                    view = box.to_dict(choice)
                    if view not in views:
                        views.append(view)
                    known[id(box), choice] = views.index(view)
                yield known[id(box), choice]

    told = {}
    for name, scene in scenes.items():
        wide, tall = list(numbers(scene.wide, WIDE)), list(numbers(scene.tall or scene.wide, TALL))
        told[name] = {"wide": wide} if wide == tall else {"wide": wide, "tall": tall}
    return {"views": views, "scenes": told}


def short(units: float) -> float:
    """Return a number with three digits behind the point, one without a fraction as an integer."""
    rounded = round(float(units), 3)
    return int(rounded) if rounded % 1 == 0 else rounded


def _joined(boxes: Sequence[Box], width: Units, height: Units, panels: Mapping[str, tuple[Units, Units]]) -> Box:
    breaks = {name: starts for box in boxes for name, starts in box.breaks.items()}
    return Box(width, height, panels, breaks, sum(box.lines for box in boxes))


def _largest(sizes: Sequence[Units]) -> Units:
    return reduce(np.maximum, sizes)
