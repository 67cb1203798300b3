"""Where panels stand: beside and above one another, as large as the screen lets them be."""

from collections.abc import Mapping, Sequence
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

    breaks: of each strip, for each of LINES, its pitch and where its lines start.
    """

    width: Units
    height: Units
    panels: Mapping[str, tuple[Units, Units]]
    breaks: Mapping[str, Sequence[tuple[float, ...]]] = field(default_factory=dict)

    def at_least(self, width: float) -> "Box":
        """Return the box at least so wide."""
        return replace(self, width=_largest([self.width, width]))

    def choices(self, aspects: Sequence[float]) -> list[int]:
        """Return which of LINES makes cells largest in pictures of these widths by height, with the fewest lines."""
        if not self.breaks:
            return [0]
        sizes = np.round(np.maximum(self.width / np.array(aspects)[:, None], self.height), 3)
        lines = sum(np.array([len(starts) for starts in strip]) for strip in self.breaks.values())
        return [*dict.fromkeys(np.lexsort((np.broadcast_to(lines, sizes.shape), sizes))[:, 0].tolist())]

    def to_dict(self, choice: int) -> dict[str, Any]:
        """Return where each panel stands, and where each strip goes on to a new line, as the player reads it."""
        strips = {name: starts[choice] for name, starts in self.breaks.items()}
        broken = {name: [_short(x, choice) for x in starts] for name, starts in strips.items() if len(starts) > 2}
        return {
            "w": _short(self.width, choice),
            "h": _short(self.height, choice),
            "at": {name: [_short(x, choice), _short(y, choice)] for name, (x, y) in self.panels.items()},
            **({"breaks": broken} if broken else {}),
        }


@dataclass(frozen=True, slots=True)
class Scene:
    """Ways to set the panels on a wide screen, and on a tall one if not the same; that with the largest cells wins."""

    wide: Sequence[Box]
    tall: Sequence[Box] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the player."""
        made: dict[tuple[int, int], dict[str, Any]] = {}
        wide, tall = _views(self.wide, WIDE, made), _views(self.tall or self.wide, TALL, made)
        return {"wide": wide} if wide == tall else {"wide": wide, "tall": tall}


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
    return Box(x - gap, _largest([box.height for box in boxes]), panels, _breaks(boxes))


def above(*boxes: Box, gap: float = 0.7) -> Box:
    """Return the boxes in a column, their left edges level."""
    y: Units = 0.0
    panels: dict[str, tuple[Units, Units]] = {}
    for box in boxes:
        panels |= {name: (left, top + y) for name, (left, top) in box.panels.items()}
        y += box.height + gap
    return Box(_largest([box.width for box in boxes]), y - gap, panels, _breaks(boxes))


def _views(
    boxes: Sequence[Box], aspects: Sequence[float], made: dict[tuple[int, int], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the views of some boxes; made: those that are known, by box and choice, which grows."""
    chosen = [(box, choice) for box in boxes for choice in box.choices(aspects)]
    made |= {(id(box), i): box.to_dict(i) for box, i in chosen if (id(box), i) not in made}
    return [made[id(box), i] for box, i in chosen]


def _breaks(boxes: Sequence[Box]) -> dict[str, Sequence[tuple[float, ...]]]:
    return {name: starts for box in boxes for name, starts in box.breaks.items()}


def _largest(sizes: Sequence[Units]) -> Units:
    return reduce(np.maximum, sizes)


def _short(units: Units, choice: int) -> float:
    one = float(units[choice] if isinstance(units, np.ndarray) else units)
    return round(one, 3) if one % 1 else int(one)
