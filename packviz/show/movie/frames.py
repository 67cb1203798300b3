"""The frames of a movie: every mark at every moment, as the player reads them from its data."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from packviz.show.movie.engine import Engine
from packviz.show.movie.format import Cell


class Moment(NamedTuple):
    """One frame: the number of its step, from 1, its scene, and all cells in painting order.

    origins: for cells that come from elsewhere in this frame, by their number: panel, x and y.
    """

    step: int
    scene: str
    cells: list[Cell]
    origins: Mapping[int, tuple[str, float, float]] = {}


def moments(data: Mapping[str, Any]) -> Iterator[Moment]:
    """Yield the state before the first step, as step 0, and then every frame."""
    cells = list[Cell]()
    for step, scene, changed, origins in Engine(data).ask("stills.moments(movie)"):
        cells = [*cells] or [_cell(state) for _, state in changed]
        for i, state in changed:
            cells[i] = _cell(state)
        yield Moment(step, scene, cells, {i: tuple(place) for i, place in origins})


def _cell(state: dict[str, Any]) -> Cell:
    vec = state.get("vec")
    return Cell(
        **{field: state[field] for field in Cell._fields if field in state} | ({"vec": tuple(vec)} if vec else {})
    )
