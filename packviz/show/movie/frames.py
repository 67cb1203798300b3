"""The frames of a movie, read from its data: every mark at every moment, as the player sees them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Data = Mapping[str, Any]
SCALE = 10_000  # numbers are stored in ten-thousandths


class Cell(NamedTuple):
    """One mark at one moment, with the fields of the data.

    p: its panel. v: a number. vec: a row of numbers, with None for NaN and infinities. tip: the number of its tooltip.
    origin: the panel, x and y from which it comes in this frame, if it comes from elsewhere.
    """

    role: str
    p: str = ""
    x: float = 0
    y: float = 0
    w: float = 1
    h: float = 1
    text: str = ""
    sub: str = ""
    seq: int | None = None
    k: int | None = None
    token: int | None = None
    v: float | None = None
    vec: tuple[float | None, ...] | None = None
    scale: str = "state"
    tone: str = ""
    shown: bool = False
    tip: int | None = None
    origin: tuple[str, float, float] | None = None


class Moment(NamedTuple):
    """One frame: the number of its step, from 1, its scene, and all cells in painting order.

    changed: the numbers of the cells that this frame changes, and what changes.
    """

    step: int
    scene: str
    cells: list[Cell]
    changed: Sequence[tuple[int, Mapping[str, Any]]] = ()


def moments(data: Data) -> Iterator[Moment]:
    """Yield the state before the first step, as step 0, and then every frame."""
    rows = [tuple(value if value is None else value / SCALE for value in row) for row in data["numbers"]]
    cells, starts = list[Cell](), list[int]()
    for group in data["groups"]:
        starts.append(len(cells))
        fields = {name: column for name, column in group.items() if name != "n"}
        cells += [Cell(**each) for each in _records(fields, group.get("n", 1), rows)]
    scene = stage = data["steps"][0]["stage"]
    yield Moment(0, scene, cells)
    for number, step in enumerate(data["steps"], 1):
        stage = step.get("stage", stage)
        for frame in step["frames"]:
            cells, changed = [cell if cell.origin is None else cell._replace(origin=None) for cell in cells], []
            for group, marks, columns in frame:
                some = range(data["groups"][group].get("n", 1)) if marks is None else marks
                for mark, new in zip(some, _records(columns, len(some), rows), strict=True):
                    i = starts[group] + mark
                    cells[i] = cells[i]._replace(**new)
                    changed.append((i, new))
            yield Moment(number, step.get("scene", stage), cells, changed)


def _records(columns: Data, count: int, rows: Sequence[tuple[float | None, ...]]) -> Iterator[dict[str, Any]]:
    """Yield the fields of each mark; numbers are scaled, and rows of numbers looked up."""
    names = ["origin" if name == "from" else name for name in columns]
    for i in range(count):
        found = dict(zip(names, (_at(name, column, i) for name, column in columns.items()), strict=True))
        if "v" in found:
            found["v"] /= SCALE
        if found.get("vec") is not None:
            found["vec"] = rows[found["vec"]]
        yield found


def _at(name: str, column: Any, i: int) -> Any:
    """Return the i-th value of a column: a list with one for each mark, or one value for all."""
    if name == "from":
        return tuple(part[i] if isinstance(part, list) else part for part in column)
    return column[i] if isinstance(column, list) else column
