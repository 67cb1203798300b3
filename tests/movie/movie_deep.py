"""Deep movies of the first stages, made once for every case, and how their grids are read off the picture."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from movie_cases import Case
from movie_screen import Look, Show

import packviz as pv

__all__ = ["deep_show", "footing", "newly_shown", "runs_of", "standing", "steps_with"]

Told = tuple[dict[str, Any], dict[str, Look]]


@cache
def deep_show(case: Case) -> Show:
    """Return the deep movie of padding, embedding and sort."""
    stages = [stage for stage in ("pad", "embed", "sort") if stage in case.movie.scenes]
    return Show(pv.movie(case.trace, stages, layer=case.layer, direction=case.direction, deep=True))


def steps_with(case: Case, stage: str, words: str) -> list[Told]:
    """Return the deep steps of a stage whose caption has these words, with the cells after each."""
    return [(step, cells) for step, cells in deep_show(case).of(stage) if words in step["caption"]]


def standing(cells: dict[str, Look], *families: str) -> list[Look]:
    """Return the cells of these families that are shown."""
    return [cell for name, cell in cells.items() if cell["shown"] and name.split(":")[0] in families]


def newly_shown(case: Case, cells: dict[str, Look]) -> list[str]:
    """Return what is shown of that which an ordinary movie does not have."""
    return [name for name, cell in cells.items() if cell["shown"] and name not in case.show.first]


def footing(cells: Iterable[Look], *, transposed: bool) -> dict[tuple[int, int], Look]:
    """Return the cells of a grid by (row, time step), read off where they stand; none stands on another."""
    cells = list(cells)
    xs, ys = (sorted({round(cell[axis], 2) for cell in cells}) for axis in "xy")
    at = [(ys.index(round(cell["y"], 2)), xs.index(round(cell["x"], 2))) for cell in cells]
    placed = {(where[::-1] if transposed else where): cell for where, cell in zip(at, cells, strict=True)}
    assert len(placed) == len(cells)
    return placed


def runs_of(mark: Look, grid: dict[tuple[int, int], Look]) -> list[tuple[int, int]]:
    """Return the (row, time step) of every cell of a grid whose middle lies within an outline."""
    right, bottom = mark["x"] + mark["w"], mark["y"] + mark["h"]
    inside = []
    for where, cell in grid.items():
        x, y = cell["x"] + cell["w"] / 2, cell["y"] + cell["h"] / 2
        if mark["x"] < x < right and mark["y"] < y < bottom:
            inside.append(where)
    return sorted(inside)
