"""Where cells stand within their panel: the padded grid, and the packed strip."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from operator import sub

import numpy as np

from packviz.show.movie.layout import LINES, Box, Margins, panel
from packviz.show.movie.marks import Column, Place

LINE_GAP = 0.35  # units between two lines of a strip
ROOMY = 6.0  # units of a row up to which cells are large, even on a phone


@dataclass(frozen=True, slots=True)
class Grid:
    """The padded grid: `rows` sequences by `columns` time steps; `transposed` (batch_first=False) turns it by a mirror.

    width: of one cell. text: room for a line of text, in units; more where cells are small. below: more room at the
    bottom. A position p is a row of the picture, counted from 0; t is a time step.
    """

    name: str
    rows: int
    columns: int
    width: float = 1.0
    transposed: bool = False
    text: float = 1.0
    below: float = 0.0

    def cell(self, p: Column, t: Column) -> Place:
        """Return where the cell of position p and time step t stands."""
        return self._at(p, t)

    def label(self, p: Column) -> Place:
        """Return where the letter of position p stands: before its first time step."""
        if self.transposed:
            return Place(self.name, p * self.width, -0.55 * self.text - 1)
        return Place(self.name, -1.1 * self.text, p)

    def axis(self, t: Column) -> Place:
        """Return where the name of time step t stands."""
        if self.transposed:
            return Place(self.name, -1.3 * self.text, t)
        return Place(self.name, t * self.width, -0.75 * self.text)

    def length(self, p: Column) -> Place:
        """Return where the length of position p stands: behind its last time step."""
        if self.transposed:
            return Place(self.name, p * self.width, self.columns + 0.05)
        return Place(self.name, self.columns * self.width + 0.2 * self.text, p)

    def count(self, t: Column) -> Place:
        """Return where batch_sizes[t] stands: at the far end of its time step."""
        if self.transposed:
            return Place(self.name, self.rows * self.width + 0.2, t)
        return Place(self.name, t * self.width, self.rows + 0.25 * self.text)

    def counts_heading(self) -> Place:
        """Return where the heading of batch_sizes stands: beside the last one, or below them where cells are small."""
        if self.transposed:
            return Place(self.name, self.rows * self.width + 0.2, self.columns)
        if self._roomy:
            return Place(self.name, self.columns * self.width + 0.2 * self.text, self.rows + 0.25 * self.text)
        return Place(self.name, 0.0, self.rows + 1.4 * self.text)

    @property
    def _roomy(self) -> bool:
        """Whether cells are so large that `batch_sizes` fits into the margin at the right."""
        return self.columns * self.width <= ROOMY

    def heading(self) -> Place:
        """Return where the heading stands."""
        lines = 1.5 * self.text + 1 if self.transposed else 1.6 * self.text
        return Place(self.name, -1.1 * self.text, -lines)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the body."""
        if self.transposed:
            return self.rows * self.width, float(self.columns)
        return self.columns * self.width, float(self.rows)

    def box(self, counts: bool = True) -> Box:
        """Return the box around the grid, with or without the room for batch_sizes."""
        x = self.text
        if self.transposed:
            margins = Margins(1.4 * x, 1.6 * x + 1, (2.2 if counts else 0.3) * x, 1.1 + self.below)
        else:
            below = (1.4 if self._roomy else 2.3) * x if counts else 0.1
            margins = Margins(1.2 * x, 1.65 * x, 1.9 * x, below + self.below)
        return panel(self.name, *self.size, margins)

    def _at(self, p: Column, t: Column) -> Place:
        along = (p if self.transposed else t) * self.width
        along = (
            along.round(9) if isinstance(along, np.ndarray) else round(along, 9)
        )  # the same place is the same number
        return Place(self.name, along, t) if self.transposed else Place(self.name, along, p)


@dataclass(frozen=True)
class Strip:
    """The packed rows in memory order, a gap between time steps; it goes on in a new line where the screen ends.

    counts: how many rows each time step has. height: of one cell. marks: a line of addresses below, brackets above.
    text: room for a line of text, in units.
    """

    name: str
    counts: Sequence[int]
    width: float = 1.0
    height: float = 1.0
    gap: float = 0.5
    marks: bool = True
    text: float = 1.0

    def cell(self, t: Column, position: Column) -> Place:
        """Return where the row at this position of time step t stands."""
        return Place(self.name, self._starts[t] + position * self.width, 0.0)

    def heading(self) -> Place:
        """Return where the heading stands."""
        return Place(self.name, 0.0, -1.7 if self.marks else -0.95 * self.text)

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
        """Return where each line of at most `capacity` units starts: at a time step if that fits, else within one."""
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
        """The box around the strip, broken into lines of every length."""
        broken: list[tuple[float, ...]] = []
        for capacity in LINES:
            single = broken and len(broken[-1]) == 1  # and so with longer lines too
            broken.append(broken[-1] if single else self.breaks(capacity))
        top, bottom = (1.75, 0.5) if self.marks else (0.95 * self.text, 0.05)
        width = np.array([max(map(sub, (*starts[1:], self.length), starts)) for starts in broken])
        lines = np.array([len(starts) for starts in broken])
        height = self.pitch * (lines - 1) + self.height
        heading = (6.5 if self.marks else 10.0) * self.text  # its longest text; beside small cells it is the wider one
        box = panel(self.name, np.maximum(width, heading), height, Margins(0.1, top, 0.1, bottom))
        return replace(box, breaks={self.name: [(self.pitch, *starts) for starts in broken]}, lines=lines)
