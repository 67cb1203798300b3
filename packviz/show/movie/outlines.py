"""Outlines around what is read in the padded grid, and how they go away again."""

from collections.abc import Iterator

from packviz.show.movie.film import Film
from packviz.show.movie.model import Cell, Change, Place
from packviz.show.movie.places import Grid

__all__ = ["around", "outline", "outlines_gone"]


def around(grid: Grid, p: int, t: int, rows: int = 1, steps: int = 1) -> tuple[Place, float, float]:
    """Return place, width and height of so many rows and time steps, from position p and time step t on."""
    wide, high = (rows * grid.width, steps) if grid.transposed else (steps * grid.width, rows)
    return grid.cell(p, t), wide, high


def outline(name: str, grid: Grid, p: int, t: int, rows: int = 1, steps: int = 1) -> Cell:
    """Return the outline around them, not yet shown."""
    return Cell(name, "mark", *around(grid, p, t, rows, steps), shown=False)


def outlines_gone(film: Film) -> Iterator[Change]:
    """Yield the changes that take every outline away."""
    return (Change(name, shown=False) for name, cell in film.cells.items() if cell.role == "mark")
