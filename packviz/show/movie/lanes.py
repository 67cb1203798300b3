"""Where the original order stands, before the sorted grid and behind it, with the room for threads between."""

from dataclasses import dataclass
from typing import Any

from packviz.show.movie.layout import Box, Margins, Scene, above, beside, panel
from packviz.show.movie.marks import Column, Place
from packviz.show.movie.view import View

HEADING = 7.5  # units of text that the heading of the grid needs


@dataclass(frozen=True)
class Lane:
    """A band along the grid, as long as it; with `index`, `cell`, `letter`, `length` and `thread` in it.

    A position p is a row of the grid, or a column where time goes down (`down`), `width` units wide. `sizes`: how deep
    each thing is.
    """

    name: str
    down: bool
    width: float
    rows: int
    text: float
    small: bool

    @property
    def sizes(self) -> dict[str, float]:
        """How deep each thing is, in units."""
        bare = 0.0 if self.small else 1.0
        if self.down:
            depths = {"index": 0.6 * bare, "cell": bare, "letter": 1.05, "length": 0.0, "thread": 2.0}
        else:
            depths = {"index": 0.7 * bare, "cell": 1.3 * bare, "letter": 1.1, "length": 0.9, "thread": 2.5}
        return {name: depth * self.text for name, depth in depths.items()}

    def depth(self, thing: str) -> float:
        """Return how far from the edge a thing begins."""
        sizes = self.sizes
        if self.name == "from":
            return sum(list(sizes.values())[: list(sizes).index(thing)])
        before = {"index": 0.0, "cell": sizes["index"], "thread": 0.0}  # never there together
        return before.get(thing, max(sizes["thread"], sizes["index"] + sizes["cell"]))

    @property
    def whole(self) -> float:
        """How deep it is."""
        last = "thread" if self.name == "from" else "letter"
        return self.depth(last) + self.sizes[last]

    def at(self, thing: str, p: Column) -> Place:
        """Return where a thing of this position stands."""
        depth = self.depth(thing)
        return Place(self.name, p * self.width, depth) if self.down else Place(self.name, depth, p)

    def size(self, thing: str) -> dict[str, Any]:
        """Return width and height of a thing."""
        w, h = (self.width, self.sizes[thing]) if self.down else (self.sizes[thing], 1.0)
        return {"w": w, "h": h}

    def thread(self, rows: Column) -> dict[str, Any]:
        """Return width and height of threads that lead so many rows further."""
        deep = self.sizes["thread"]
        return {"w": rows * self.width, "h": deep} if self.down else {"w": deep, "h": rows * 1.0}

    def heading(self, thing: str) -> Place:
        """Return where the heading of a thing stands."""
        x = self.text
        return Place(self.name, -1.3 * x, -0.95 * x) if self.down else Place(self.name, self.depth(thing), -0.9 * x)

    def box(self) -> Box:
        """Return the box around it, in line with the grid's."""
        x = self.text
        if self.down:
            return panel(self.name, self.rows * self.width, self.whole, Margins(1.4 * x, 0.95 * x, 2.2 * x, 0.05))
        return panel(self.name, self.whole, float(self.rows), Margins(0.1, 1.65 * x, 0.1, 0.1))


def lanes(view: View) -> tuple[Lane, Lane]:
    """Return the lane of the original order before the grid, and the one behind it."""
    grid = view.grid
    width = grid.width if view.transposed else 1.0
    first, second = (Lane(name, view.transposed, width, grid.rows, view.text, view.small) for name in ("from", "to"))
    return first, second


def lanes_scene(view: View) -> Scene:
    """Return the scene in which the grid stands between the two lanes."""
    before, behind = lanes(view)
    grid = view.grid.box(counts=False)
    if view.transposed:
        return Scene([above(before.box(), grid, behind.box(), gap=0.0)])
    return Scene([beside(before.box(), grid.at_least(HEADING * view.text), behind.box(), gap=0.0)])
