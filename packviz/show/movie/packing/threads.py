"""The original order before and after the sorted grid: letters and indices in two lanes, with threads to the rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

from packviz.show.movie.layout import Box, Column, Grid, Margins, Place, panel
from packviz.show.movie.marks import Frame, Marks, frame, marks, title
from packviz.show.movie.packing import inputs, places, token_table
from packviz.show.movie.packing.sheet import texts
from packviz.show.movie.packing.view import View

LANES = ("from", "to")


@dataclass(frozen=True)
class Lane:
    """A band along the whole grid, with an index, a cell, a letter and a thread for each row.

    grid: gives the places in the band, with units from its edge for time steps. depths: how far from the edge each
    thing begins. sizes: how deep it is.
    """

    grid: Grid
    depths: Mapping[str, float]
    sizes: Mapping[str, float]

    @property
    def name(self) -> str:
        """The name of its panel."""
        return self.grid.name

    def at(self, thing: str, p: Column) -> Place:
        """Return the place of a thing at position p."""
        return self.grid.cell(p, self.depths[thing])

    def size(self, thing: str, rows: Column = 1.0) -> dict[str, Any]:
        """Return width and height of a thing, or of threads that span a number of rows."""
        along, deep = rows * self.grid.width, self.sizes[thing]
        return {"w": along, "h": deep} if self.grid.transposed else {"w": deep, "h": along}

    def title(self, thing: str, text: str) -> Marks:
        """Return the heading of a thing."""
        x, down = self.grid.text, self.grid.transposed
        return title(Place(self.name, *((-1.3 * x, -0.95 * x) if down else (self.depths[thing], -0.9 * x))), text)

    def box(self) -> Box:
        """Return the box around it, aligned with the grid's."""
        x, along = self.grid.text, self.grid.rows * self.grid.width
        deep = max(depth + self.sizes[thing] for thing, depth in self.depths.items())
        if self.grid.transposed:
            return panel(self.name, along, deep, Margins(1.4 * x, 0.95 * x, 2.2 * x, 0.05))
        return panel(self.name, deep, along, Margins(0.1, 1.65 * x, 0.1, 0.1))


def lanes(view: View) -> tuple[Lane, Lane]:
    """Return the lane of the original order before the grid, and the one after it."""
    bare = 0.0 if view.small else 1.0
    units = {"index": 0.5 * bare, "cell": 0.9 * bare, "letter": 0.75, "thread": 0.8}  # a phone has room for them
    if view.transposed:
        units = {"index": 0.6 * bare, "cell": bare, "letter": 1.05, "thread": 2.0}
    sizes = {thing: deep * view.text for thing, deep in units.items()}
    before = dict(zip(sizes, accumulate(sizes.values(), initial=0.0), strict=False))
    # The indices are never shown together with the threads and letters.
    behind = {"index": 0.0, "cell": sizes["index"], "thread": 0.0, "letter": sizes["thread"]}
    first, second = (
        replace(places.grid(view), name=name, width=places.grid(view).width if view.transposed else 1.0)
        for name in LANES
    )
    return Lane(first, before, sizes), Lane(second, behind, sizes)


def threads_of(view: View, row: np.ndarray) -> Frame:
    """Return the original order, each letter with a thread to its row."""
    before, _ = lanes(view)
    p, bs = view.place[view.shown], view.shown
    return frame(before.title("letter", "as given"), *_letters(view, before, p, p, row[bs] - p))


def _letters(view: View, lane: Lane, p: np.ndarray, start: np.ndarray, rows: np.ndarray) -> Iterator[Marks]:
    """Yield the letters of the sequences at positions p, and their threads from `start`, which span `rows` rows."""
    yield marks(lane.name, "label", lane.at("letter", p), view.shown, text=places.letters(view), **lane.size("letter"))
    yield marks(
        f"thread:{lane.name}", "thread", lane.at("thread", start + 0.5), view.shown, **lane.size("thread", rows)
    )


def permutations(view: View) -> Frame:
    """Return unsorted_indices beside the original order and sorted_indices beside the rows, each with its index."""
    if view.small:
        return {}
    before, behind = lanes(view)
    rank, order = view.trace.sorted.rank.numpy(), np.array(view.order)
    groups = [before.title("index", "unsorted_indices"), behind.title("index", "sorted_indices")]
    k = np.arange(len(rank))
    for lane, name, b, values in ((before, "unsorted", k, rank), (behind, "sorted", order, order)):
        groups.append(marks(f"{lane.name}axis", "axis", lane.at("index", k), k, text=texts(k), **lane.size("index")))
        first = token_table.numbered(view)[b, np.minimum(inputs.leads(view)[b], view.total[1] - 1)]
        look = {"text": texts(values), "token": first, "says": f"!{name}_indices[{{k}}] = {{text}}"}
        groups.append(marks(name, "token", lane.at("cell", k), k, seq=b, **look, **lane.size("cell")))
    return frame(*groups)


def returning(view: View, row: np.ndarray) -> Frame:
    """Return the rows of h_n after the grid, in the sorted order or on their way back along the threads."""
    before, behind = lanes(view)
    p, to = view.rank[view.shown], row[view.shown]
    headings = before.title("letter", "h_0"), behind.title("letter", "h_n")
    return frame(*headings, *_letters(view, behind, to, p, to - p))
