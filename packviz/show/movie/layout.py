"""Layout: cells within their panel, and panels side by side and stacked, as large as possible."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import accumulate
from operator import sub
from typing import Any, NamedTuple

import numpy as np

WIDE = (7.0, 3.4, 2.2, 1.8, 1.5, 1.25)  # aspect ratios of pictures on a desktop,
TALL = (1.0, 0.8, 0.6, 0.5)  # and on a phone; at the last one, the words of a long sequence need not scroll
LINES = tuple(round(7 * 1.25**i) for i in range(16))  # the line lengths of a strip that are tried: 7 to 199 units
LINE_GAP = 0.35  # units between two lines of a strip
COUNTS = 3.2  # units of the heading of batch_sizes beside the last one
ROOMY = 6.0  # rows of at most this many units have large cells, even on a phone
Units = Any  # one number, or a column with one for each of LINES
Column = Any  # one value for all marks of a group, or a numpy array with one for each


class Place(NamedTuple):
    """A position in the units of a panel, or a column of them: one unit is the height of a cell."""

    panel: Column
    x: Column
    y: Column

    def moved(self, dx: Column, dy: Column) -> "Place":
        """Return the place dx units to the right and dy down."""
        return Place(self.panel, self.x + dx, self.y + dy)


@dataclass(frozen=True, slots=True)
class Margins:
    """Room around the body of a panel, in units, for headings and labels."""

    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of panels: each panel's origin is the upper left corner of its body.

    breaks: for each strip and each of LINES, its pitch and where its lines start. lines: how many lines there are.
    """

    width: Units
    height: Units
    panels: Mapping[str, tuple[Units, Units]]
    breaks: Mapping[str, Sequence[tuple[float, ...]]] = field(default_factory=dict)
    lines: Units = 0

    def at_least(self, width: float) -> "Box":
        """Return the box with at least this width."""
        return replace(self, width=np.maximum(self.width, width))

    def choices(self, aspects: Sequence[float]) -> list[int]:
        """Return which of LINES give the largest cells in pictures of these aspect ratios, with the fewest lines."""
        if not self.breaks:
            return [0]
        sizes = np.maximum(self.width / np.array(aspects)[:, None], self.height).round(3)
        return [*dict.fromkeys((sizes + 1e-7 * self.lines).argmin(1).tolist())]

    def to_list(self, choice: int) -> list[Any]:
        """Return the position of each panel, and the line breaks of each strip, in the player's format."""

        def one(units: Units) -> float:
            return short(units[choice] if isinstance(units, np.ndarray) else units)

        at = {name: [one(x), one(y)] for name, (x, y) in self.panels.items()}
        strips = {name: starts[choice] for name, starts in self.breaks.items()}
        broken = {name: list(map(short, starts)) for name, starts in strips.items() if len(starts) > 2}
        return [one(self.width), one(self.height), at, *([broken] if broken else [])]


@dataclass(frozen=True, slots=True)
class Scene:
    """Layouts for a wide screen, and for a tall one if different; chosenView in player/views.js chooses one."""

    wide: Sequence[Box]
    tall: Sequence[Box] = ()


def panel(name: str, width: Units, height: Units, margins: Margins) -> Box:
    """Return a box around a body of this size, with its margins."""
    return Box(
        width + margins.left + margins.right, height + margins.top + margins.bottom, {name: (margins.left, margins.top)}
    )


def beside(*boxes: Box, gap: float = 1.0) -> Box:
    """Return the boxes in a row, aligned at the top."""
    return _joined(boxes, gap, across=True)


def above(*boxes: Box, gap: float = 0.7) -> Box:
    """Return the boxes in a column, aligned at the left."""
    return _joined(boxes, gap, across=False)


def _joined(boxes: Sequence[Box], gap: float, *, across: bool) -> Box:
    at: Units = 0.0
    panels: dict[str, tuple[Units, Units]] = {}
    for box in boxes:
        dx, dy = (at, 0.0) if across else (0.0, at)
        panels |= {name: (x + dx, y + dy) for name, (x, y) in box.panels.items()}
        at += (box.width if across else box.height) + gap
    long, wide = at - gap, reduce(np.maximum, [box.height if across else box.width for box in boxes])
    breaks = {name: starts for box in boxes for name, starts in box.breaks.items()}
    return Box(*((long, wide) if across else (wide, long)), panels, breaks, sum(box.lines for box in boxes))


def plain(scenes: Mapping[str, Scene]) -> dict[str, Any]:
    """Return the views of all scenes, each once, and which of them each scene has, in the player's format."""
    views: list[list[Any]] = []
    known: dict[tuple[int, int], int] = {}

    def numbers(boxes: Sequence[Box], aspects: Sequence[float]) -> Iterator[int]:
        for box in boxes:
            for choice in box.choices(aspects):
                if (id(box), choice) not in known:
                    view = box.to_list(choice)
                    if view not in views:
                        views.append(view)
                    known[id(box), choice] = views.index(view)
                yield known[id(box), choice]

    numbered = {}
    for name, scene in scenes.items():
        wide, tall = list(numbers(scene.wide, WIDE)), list(numbers(scene.tall or scene.wide, TALL))
        numbered[name] = [wide] if wide == tall else [wide, tall]
    return {"views": views, "scenes": numbered}


def short(units: float) -> float:
    """Return a number rounded to three decimals, as an integer if it is whole."""
    rounded = round(float(units), 3)
    return int(rounded) if rounded.is_integer() else rounded


@dataclass(frozen=True, slots=True)
class Grid:
    """The padded grid: `rows` sequences by `columns` time steps; `transposed` for batch_first=False.

    width, height: of one cell. text: room for a line of text, in units; more if cells are small. below: extra room at
    the bottom. A position p is a row of the picture, counted from 0; t is a time step.
    """

    name: str
    rows: int
    columns: int
    width: float = 1.0
    transposed: bool = False
    text: float = 1.0
    below: float = 0.0
    height: float = 1.0  # differs only if transposed

    def _at(self, across: Column, along: Column) -> Place:
        """Return a place by its distance across the rows and along them (the time axis), in units."""
        return Place(self.name, *((across, along) if self.transposed else (along, across)))

    def _units(self, p: Column = 0, t: Column = 0) -> tuple[Column, Column]:
        """Return how far position p is across, and time step t along, in units."""
        return (p * self.width, t * self.height) if self.transposed else (p, t * self.width)

    def cell(self, p: Column, t: Column) -> Place:
        """Return the place of the cell at position p and time step t."""
        return self._at(*self._units(p, t))

    def label(self, p: Column) -> Place:
        """Return the place of the letter of position p: before its first time step."""
        return self._at(self._units(p)[0], -0.55 * self.text - 1 if self.transposed else -1.1 * self.text)

    def axis(self, t: Column) -> Place:
        """Return the place of the name of time step t."""
        return self._at((-1.3 if self.transposed else -0.76) * self.text, self._units(t=t)[1])

    @property
    def axis_height(self) -> float:
        """Units of that name: it ends above the cells, and so does a line around it."""
        return self.text if self.transposed else 0.72 * self.text

    def length(self, p: Column) -> Place:
        """Return the place of the length of position p: after its last time step."""
        across, end = self._units(p, self.columns)
        return self._at(across, end + 0.05 * self.height if self.transposed else end + 0.2 * self.text)

    def count(self, t: Column) -> Place:
        """Return the place of batch_sizes[t]: at the far end of its time step."""
        end = self.rows * self.width + 0.2 if self.transposed else self.rows + 0.25 * self.text
        return self._at(end, self._units(t=t)[1])

    def counts_heading(self) -> Place:
        """Return the place of the heading of batch_sizes: it has a panel of its own, which `box` places."""
        return Place(f"{self.name}:counts", 0.0, 0.0)

    def heading(self) -> Place:
        """Return the place of the heading."""
        lines = 1.5 * self.text + 1 if self.transposed else 1.6 * self.text
        return Place(self.name, -1.1 * self.text, -lines)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the body."""
        across, along = self._units(self.rows, self.columns)
        return (float(across), float(along)) if self.transposed else (float(along), float(across))

    def box(self, counts: bool = True, *, lengths: bool = True, beside: bool = False) -> Box:
        """Return the box around the grid, with or without room for batch_sizes and for the lengths.

        beside: whether the heading of batch_sizes is beside the last one, which takes less height.
        """
        x, (across, _) = self.text, self.size
        roomy = across <= ROOMY  # cells are so large that the heading fits into the right margin
        if self.transposed:
            margins = Margins(1.4 * x, 1.6 * x + 1, (2.2 if counts else 0.3) * x, 1.1 + self.below)
            right, down = across + 0.2, float(self.columns)
        else:
            below = (1.4 * x if beside or roomy else 3.2 * x - 0.25) if counts else 0.1
            free = COUNTS if beside and not roomy else 1.9 if lengths else 0.2
            margins = Margins(1.2 * x, 1.65 * x, free * x, below + self.below)
            right, down = (across + 0.2 * x, 0.25 * x) if beside or roomy else (0.0, 2.3 * x - 0.25)
            down += self.rows
        box = panel(self.name, *self.size, margins)
        heading = {self.counts_heading().panel: (margins.left + right, margins.top + down)}
        return replace(box, panels={**box.panels, **heading}) if counts else box


@dataclass(frozen=True)
class Strip:
    """The packed rows in memory order, with a gap between time steps; long strips wrap onto further lines.

    counts: how many rows each time step has. height: of one cell. marks: a line of addresses below, brackets above.
    text: room for a line of text, in units. headed: whether a heading stands above it, for which it is wide enough.
    """

    name: str
    counts: Sequence[int]
    width: float = 1.0
    height: float = 1.0
    gap: float = 0.5
    marks: bool = True
    text: float = 1.0
    headed: bool = True

    def cell(self, t: Column, position: Column) -> Place:
        """Return the place of the row at this position of time step t."""
        return Place(self.name, self._starts[t] + position * self.width, 0.0)

    def heading(self) -> Place:
        """Return the place of the heading."""
        return Place(self.name, 0.0, -1.7 if self.marks else -self.text)

    @property
    def length(self) -> float:
        """Units from the first row to the last."""
        return float(self._starts[-1]) - self.gap

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.array([*accumulate((count * self.width + self.gap for count in self.counts), initial=0.0)])

    @property
    def pitch(self) -> float:
        """Units from one line to the next."""
        return self.height + (1.75 if self.marks else LINE_GAP)

    def breaks(self, capacity: float) -> tuple[float, ...]:
        """Return where each line of at most `capacity` units starts: at a time step if possible, else within one."""
        starts, begins = [0.0], self._starts.tolist()
        for t, count in enumerate(self.counts):
            first, last = begins[t], begins[t] + count * self.width
            if last - starts[-1] > capacity and first > starts[-1]:
                starts.append(first)
            while last - starts[-1] > capacity + 1e-9:
                starts.append(starts[-1] + max(1, int(capacity / self.width)) * self.width)
        return tuple(starts)

    @cached_property
    def box(self) -> Box:
        """The box around the strip, wrapped at every one of LINES."""
        longest = 6.5 if self.marks else 10.0  # units of a heading, which is wider beside small cells
        return self._box([self.breaks(capacity) for capacity in LINES], longest)

    @property
    def by_step(self) -> Box:
        """The box around the strip, with each time step on a line of its own."""
        return self._box([tuple(self._starts[:-1].tolist())], 5.6)

    def _box(self, broken: Sequence[tuple[float, ...]], longest: float) -> Box:
        top, bottom = (1.75, 0.5) if self.marks else (self.text + 0.05, 0.05)  # headings are level with those of grids
        width = np.array([max(map(sub, (*starts[1:], self.length), starts)) for starts in broken])
        lines = np.array([len(starts) for starts in broken])
        height, heading = self.pitch * (lines - 1) + self.height, longest * self.text * self.headed
        box = panel(self.name, np.maximum(width, heading), height, Margins(0.1, top, 0.1, bottom))
        return replace(box, breaks={self.name: [(self.pitch, *starts) for starts in broken]}, lines=lines)
