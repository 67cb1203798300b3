"""Plays a movie as the player does: from its plain data, change after change."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

from packviz.show.movie import Movie

__all__ = ["Look", "Show", "grid_of", "records", "rect_of"]

Look = dict[str, Any]  # a cell as it is now: the short names of Cell.to_dict
DEFAULTS: Look = {"w": 1, "h": 1, "text": "", "sub": "", "scale": "state", "tone": "", "shown": True}


class Show:
    """A movie being shown: `before[i]` and `after[i]` are the cells by id, before and after the i-th step."""

    def __init__(self, movie: Movie) -> None:
        self.movie = movie
        self.data = movie.to_dict()
        self.ids = [cell.id for cell in movie.cells]
        self.first = {
            name: DEFAULTS | {"id": name} | cell
            for name, cell in zip(self.ids, records(self.data["cells"]), strict=True)
        }
        self.steps: list[dict[str, Any]] = [
            step | {"beats": [list(records(beat)) for beat in step["beats"]]} for step in self.data["steps"]
        ]

    @cached_property
    def after(self) -> list[dict[str, Look]]:
        frames, cells = [], self.first
        for step in self.steps:
            cells = dict(cells)
            for beat in step["beats"]:
                for change in beat:
                    name = self.ids[change["c"]]
                    cells[name] = cells[name] | {key: new for key, new in change.items() if key not in ("c", "from")}
            frames.append(cells)
        return frames

    @cached_property
    def before(self) -> list[dict[str, Look]]:
        return [self.first, *self.after[:-1]]

    def end_of(self, stage: str) -> dict[str, Look]:
        """Return the cells after the last step of a stage."""
        return next(
            cells for step, cells in reversed(list(zip(self.steps, self.after, strict=True))) if step["stage"] == stage
        )

    def of(self, stage: str) -> list[tuple[dict[str, Any], dict[str, Look]]]:
        """Return the steps of a stage, with the cells after each."""
        return [(step, cells) for step, cells in zip(self.steps, self.after, strict=True) if step["stage"] == stage]

    def idle_changes(self) -> Iterable[tuple[int, str]]:
        """Yield step and cell of every change that names no cell that is there, or changes nothing in it."""
        cells = dict(self.first)
        for i, step in enumerate(self.steps):
            for change in (change for beat in step["beats"] for change in beat):
                new = {key: value for key, value in change.items() if key not in ("c", "from")}
                if not 0 <= change["c"] < len(self.ids):
                    yield i, f"number {change['c']}"
                    continue
                name = self.ids[change["c"]]
                if "from" not in change and all(cells[name].get(key) == value for key, value in new.items()):
                    yield i, name
                cells[name] = cells[name] | new


def records(blocks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what blocks of columns hold, record by record."""
    for block in blocks:
        columns = {name: column for name, column in block.items() if name != "n"}
        for i in range(block["n"] if "n" in block else len(block["c"])):
            yield {name: column[i] if isinstance(column, list) else column for name, column in columns.items()}


def grid_of(cells: Iterable[Look], *, transposed: bool) -> dict[tuple[int, int], Look]:
    """Return cells by (row, column), read off the places where they stand; (column, row) if the grid is transposed."""
    cells = list(cells)
    columns, rows = (sorted({cell[axis] for cell in cells}) for axis in "xy")
    placed: dict[tuple[int, int], Look] = {}
    for cell in cells:
        at = rows.index(cell["y"]), columns.index(cell["x"])
        at = at[::-1] if transposed else at
        assert at not in placed, f"{cell['id']} and {placed[at]['id']} stand in the same place"
        placed[at] = cell
    for line, width in ((columns, {cell["w"] for cell in cells}), (rows, {1})):
        assert all(b - a >= min(width) - 0.002 for a, b in pairwise(line))
    return placed


def rect_of(view: dict[str, Any], cell: Look) -> tuple[float, float, float, float] | None:
    """Return left, top, right and bottom of a cell in the units of a view; None where the view lacks its panel."""
    at = view["at"].get(cell["p"])
    if at is None:
        return None
    x, y, w = cell["x"], cell["y"], cell["w"]
    pitch, *starts = view["breaks"].get(cell["p"], (0, 0))
    line = max(i for i, start in enumerate(starts) if i == 0 or start <= x + 1e-6)
    if line + 1 < len(starts) and x + w > starts[line + 1] + 1e-6:
        w = starts[line + 1] - x - 0.1
    left, top = at[0] + x - starts[line], at[1] + y + line * pitch
    return left, top, left + w, top + cell["h"]
