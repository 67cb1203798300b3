"""How the states of a run are read off its cells, and the order in which they come about."""

from movie_cases import Case
from movie_screen import Look, Show
from torch import Tensor

__all__ = ["last_taken", "row_inside", "state", "state_after", "steps", "steps_left_out", "units_of"]


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


def steps(case: Case, show: Show) -> list[tuple[int, dict[str, Look]]]:
    """Return (time step, cells after it) in order of processing; the start is left out."""
    filmed = range(min(len(case.judge.batch_sizes), 60))
    order = reversed(filmed) if case.direction else filmed
    return list(zip(order, [cells for _, cells in show.of("run")[1:]], strict=True))


def row_inside(case: Case, n: int) -> dict[str, Tensor]:
    """Return the gates and c of a packed row, as the trace has them: test_oracle.py proves them equal to torch's."""
    layer, direction = case.watched
    return {name: rows[n] for name, rows in case.trace.layers[layer][direction].rows.items() if name != "h"}


def state_after(case: Case, b: int, t: int, name: str) -> Tensor:
    """Return h or c of a sequence after a time step that it took."""
    n = case.judge.row[b, t]
    return case.hidden[n] if name == "h" else row_inside(case, n)["c"]


def steps_left_out(case: Case) -> bool:
    """Return whether the run has taken time steps before the first that is shown."""
    return bool(case.direction) and len(case.judge.batch_sizes) > 60


def last_taken(case: Case, b: int, t: int) -> int | None:
    """Return the time step whose state a sequence has once the run has taken t; None before its first."""
    if case.direction:
        return t if t < case.judge.lengths[b] else None
    return min(t, case.judge.lengths[b] - 1)
