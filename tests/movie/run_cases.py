"""The runs that are judged: those of every movie, and the same again with all their whys."""

from typing import Any

from movie_cases import PACKED, Case
from movie_screen import Look

import packviz as pv
from packviz import Movie

__all__ = ["DEEP", "RUNS", "last_taken", "row_of_h", "state", "steps", "units_of"]


class Deep(Case):
    """A case whose run is shown with all its whys, and nothing else unless asked."""

    def film(self, stages: Any = ("run",)) -> Movie:
        return pv.movie(self.trace, stages, layer=self.layer, direction=self.direction, deep=True)

    @property
    def in_numbers(self) -> bool:
        """Whether its gates stand there as numbers; where these could not be read, they are stripes as ever."""
        return any(name.startswith("was:") for name in self.show.ids)


DEEP = [Deep(f"{case}-deep", lambda case=case: case._made, case.layer, case.direction) for case in PACKED]
RUNS = [*PACKED, *DEEP]


def state(cells: dict[str, Look], name: str, b: int) -> list[float | None] | None:
    """Return the numbers of a sequence in the panel h or hn; None where nothing is shown."""
    one = cells.get(f"{name}:{b}")
    if one:
        return list(one["vec"]) if one["shown"] else None
    return units_of(cells, f"{name}:{b}")


def units_of(cells: dict[str, Look], name: str) -> list[float | None] | None:
    """Return the numbers of a row of cells, one a unit; None where none of them is shown."""
    units = [cell for unit in range(99) if (cell := cells.get(f"{name}:{unit}"))]
    assert units, name
    if not all(cell["shown"] for cell in units):
        assert not any(cell["shown"] for cell in units)
        return None
    return [None if cell["text"] == "nan" else cell["v"] for cell in units]


def steps(case: Case) -> list[tuple[int, dict[str, Look]]]:
    """Return (time step, cells after it) in order of processing; the start is left out."""
    filmed = range(min(len(case.judge.batch_sizes), 128))
    order = reversed(filmed) if case.direction else filmed
    return list(zip(order, [cells for _, cells in case.show.of("run")[1:]], strict=True))


def last_taken(case: Case, b: int, t: int) -> int | None:
    """Return the time step whose state a sequence has once the run has taken t; None before its first."""
    if case.direction:
        return t if t < case.judge.lengths[b] else None
    return min(t, case.judge.lengths[b] - 1)


def row_of_h(case: Case) -> int:
    """Return the row of h_n that belongs to the watched layer and direction."""
    layer, direction = case.watched
    return layer * case.judge.D + direction
