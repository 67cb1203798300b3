"""A movie as it is shown: its steps, and its cells by id before and after each."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from math import isfinite
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from packviz.show.movie import Movie
from packviz.show.movie.format import Cell
from packviz.show.movie.frames import Moment, moments

__all__ = [
    "NUMBER",
    "Arrangement",
    "Look",
    "Named",
    "Show",
    "Told",
    "cell_of",
    "close",
    "detail",
    "grid_of",
    "listed",
    "match",
    "number",
    "shape_of",
    "standing",
]
__all__ += ["in_numbers", "overlapping", "state", "tokens", "typed", "units_of", "visible", "within"]

Look = dict[str, Any]  # a cell as it is now, by the short names of the data
Named = tuple[tuple[float, float, float, float], str]  # left, top, right, bottom; the cell's id
Told = tuple[dict[str, Any], dict[str, Look]]  # a step, and the cells after it


class Rect(NamedTuple):
    """A rectangle in units."""

    x: float
    y: float
    w: float
    h: float


class Arrangement(NamedTuple):
    """A view: the positions of panels in a box measured in units, and the pitch and the lines of wrapped strips."""

    w: float
    h: float
    at: Mapping[str, Sequence[float]]
    breaks: Mapping[str, Sequence[float]] = MappingProxyType({})

    def rect(self, cell: Cell) -> Rect | None:
        """Return the rectangle of a cell; None if its panel is not in view."""
        if (at := self.at.get(cell.p)) is None:
            return None
        x, y, w = cell.x, cell.y, cell.w
        if pitch_starts := self.breaks.get(cell.p):
            pitch, *starts = pitch_starts
            line = max(i for i, start in enumerate(starts) if i == 0 or start <= x + 1e-6)
            if line + 1 < len(starts) and x + w > starts[line + 1] + 1e-6:
                w = starts[line + 1] - x - 0.1
            x, y = x - starts[line], y + line * pitch
        return Rect(at[0] + x, at[1] + y, w, cell.h)


class Show:
    """A movie being shown: `before[i]` and `after[i]` are the cells by id, before and after the i-th step.

    frames: for each step the cells that each of its frames changes, and how.
    """

    def __init__(self, movie: Movie) -> None:
        self.movie = movie
        self.data = movie.to_dict()
        self.ids = movie.ids
        start, *every = moments(self.data)
        self.first = self._named(start)
        self.frames = [[each for each in every if each.step == i] for i, _ in enumerate(self.data["steps"], 1)]
        stage = ""
        self.steps: list[dict[str, Any]] = []
        for step in self.data["steps"]:
            stage = step.get("stage", stage)
            self.steps.append(step | {"stage": stage, "code": self.data["lines"][stage]})
        views = [Arrangement(*view) for view in self.data["views"]]
        self.scenes = {
            name: {way: [views[view] for view in each] for way, each in zip(("wide", "tall"), scene, strict=False)}
            for name, scene in self.data["scenes"].items()
        }

    def _named(self, moment: Moment) -> dict[str, Look]:
        return {name: {"id": name} | cell._asdict() for name, cell in zip(self.ids, moment.cells, strict=True)}

    def at(self, i: int, frame: int = 0) -> dict[str, Look]:
        """Return the cells in a frame of the i-th step."""
        return self._named(self.frames[i][frame])

    @cached_property
    def after(self) -> list[dict[str, Look]]:
        return [self.at(i, -1) for i, _ in enumerate(self.steps)]

    @cached_property
    def before(self) -> list[dict[str, Look]]:
        return [self.first, *self.after[:-1]]

    def end_of(self, stage: str) -> dict[str, Look]:
        """Return the cells after the last step of a stage."""
        return self.of(stage)[-1][1]

    def of(self, stage: str, words: str = "") -> list[Told]:
        """Return the steps of a stage whose caption has these words, with the cells after each."""
        told = zip(self.steps, self.after, strict=True)
        return [(step, cells) for step, cells in told if step["stage"] == stage and words in step["caption"]]

    def seen(self, stage: str, cells: dict[str, Look]) -> dict[str, Look]:
        """Return what a frame of a stage shows: the cells that stand in the panels of its picture."""
        panels = {panel for views in self.scenes[stage].values() for view in views for panel in view.at}
        return {name: cell for name, cell in visible(cells).items() if cell["p"] in panels}

    def flights(self, step: dict[str, Any]) -> dict[str, tuple[str, float, float]]:
        """Return from where each cell flies in a step: panel, x and y."""
        frames = self.frames[self.steps.index(step)]
        return {self.ids[i]: place for frame in frames for i, place in frame.origins.items()}

    def written(self) -> Iterator[tuple[Moment, Moment, list[tuple[int, dict[str, Any]]]]]:
        """Yield for each frame the moment before it, it, and the changes as written: the cell and its new values."""
        starts = [*accumulate((group.get("n", 1) for group in self.data["groups"]), initial=0)]
        every = [frame for step in self.data["steps"] for frame in step["frames"]]
        for (before, now), changes in zip(pairwise(moments(self.data)), every, strict=True):
            marks = [
                (starts[g], range(starts[g + 1] - starts[g]) if some is None else some, new) for g, some, new in changes
            ]
            yield before, now, [(start + mark, new) for start, some, new in marks for mark in some]

    def twice_changed(self) -> list[str]:
        """Return the cells of which one frame changes a field more than once."""
        found = []
        for _, _, changes in self.written():
            fields = Counter((i, field) for i, new in changes for field in new)
            found += [self.ids[i] for (i, _), times in fields.items() if times > 1]
        return found

    def idle_changes(self) -> Iterator[tuple[int, str]]:
        """Yield step and cell of every change that changes nothing.

        Rows of numbers are compared by their position, and two of them may be equal.
        """
        for before, now, changes in self.written():
            for i, new in changes:
                if not {"from", "vec"} & set(new) and before.cells[i] == now.cells[i]:
                    yield now.step, self.ids[i]


def cell_of(look: Look) -> Cell:
    """Return a cell as the pictures take it."""
    return Cell(**{field: look[field] for field in Cell._fields})


def typed(lengths: Iterable[int]) -> str:
    """Return sequences of these lengths as somebody types them: digits from 0 on."""
    return "\n".join(" ".join(str(k % 10) for k in range(length)) for length in lengths)


def visible(cells: dict[str, Look]) -> dict[str, Look]:
    """Return what is seen of cells, for movies to be compared that count their groups in another way."""
    return {
        name: {key: value for key, value in cell.items() if value is not None}
        for name, cell in cells.items()
        if cell["shown"]
    }


def standing(cells: dict[str, Look], *families: str) -> list[Look]:
    """Return the cells of these families that are shown."""
    return [cell for name, cell in cells.items() if cell["shown"] and name.split(":")[0] in families]


def state(cells: dict[str, Look], name: str, b: int) -> list[float | None] | None:
    """Return the numbers of a sequence in the panel h or hn; None if nothing is shown."""
    one = cells.get(f"{name}:{b}")
    if one:
        return list(one["vec"]) if one["shown"] else None
    return units_of(cells, f"{name}:{b}")


def units_of(cells: dict[str, Look], name: str) -> list[float | None] | None:
    """Return the numbers of a row of cells, one a unit; None if none of them is shown."""
    units = [cell for unit in range(99) if (cell := cells.get(f"{name}:{unit}"))]
    assert units, name
    if not all(cell["shown"] for cell in units):
        assert not any(cell["shown"] for cell in units)
        return None
    return [None if cell["text"] == "nan" else cell["v"] for cell in units]


def match(pattern: str, text: str) -> re.Match[str]:
    """Return where a text begins to have a pattern, which it has."""
    found = re.search(pattern, text)
    assert found, (pattern, text)
    return found


def listed(text: str, truth: list[int]) -> bool:
    """Return whether numbers, perhaps with their middle left out, are the truth."""
    *first, last = map(int, re.findall(r"-?\d+", text))
    return [*first, last] == truth if "…" not in text else first == truth[: len(first)] and last == truth[-1]


def shape_of(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def detail(step: dict[str, Any], start: str) -> tuple[str, str]:
    """Return the rest of the detail line that starts so, and its shape."""
    return next((text.removeprefix(start), shape) for text, shape in step.get("detail", ()) if text.startswith(start))


def tokens(movie: Movie) -> list[dict[str, Any]]:
    """Return the tokens with their tooltips, filled in as the player does."""
    told, sequences = movie.to_dict()["tokens"], movie.to_dict()["sequences"]
    found = []
    for b, t, n, typed in zip(told["b"], told["t"], told["n"], told.get("said") or [""] * len(told["b"]), strict=True):
        said = told["typed"].format(said=typed) if typed else ""
        tip = said + told["tip"].format(seq=sequences[b][0], t=t)
        if n >= 0:
            offset = told["offsets"][t]
            blanks = {"n": n, "t": t, "offset": offset, "position": n - offset}
            tip += told["address"].format(**blanks)
        found.append({"b": b, "t": t, "n": n if n >= 0 else None, "tip": tip})
    return found


def grid_of(cells: Iterable[Look], *, transposed: bool) -> dict[tuple[int, int], Look]:
    """Return cells by (row, column), read off the places where they stand; (column, row) if the grid is transposed."""
    cells = list(cells)
    columns, rows = (sorted({round(cell[axis], 2) for cell in cells}) for axis in "xy")
    placed: dict[tuple[int, int], Look] = {}
    for cell in cells:
        at = rows.index(round(cell["y"], 2)), columns.index(round(cell["x"], 2))
        at = at[::-1] if transposed else at
        assert at not in placed, f"{cell['id']} and {placed[at]['id']} stand in the same place"
        placed[at] = cell
    return placed


def within(mark: Look, grid: dict[tuple[int, int], Look]) -> list[tuple[int, int]]:
    """Return the (row, column) of every cell of a grid whose middle lies within an outline."""
    right, bottom = mark["x"] + mark["w"], mark["y"] + mark["h"]
    return sorted(
        where
        for where, cell in grid.items()
        if mark["x"] < cell["x"] + cell["w"] / 2 < right and mark["y"] < cell["y"] + cell["h"] / 2 < bottom
    )


def close(shown: list[float | None] | None, true: Tensor) -> bool:
    """Return whether numbers are shown and are the first of the true ones, rounded to four decimals.

    None among them is not finite.
    """
    if shown is None:
        return False
    pairs = zip(shown, true.flatten()[: len(shown)].tolist(), strict=True)
    return all((a is None) == (not isfinite(b)) and (a is None or abs(a - b) <= 6e-5 + 1e-5 * abs(b)) for a, b in pairs)


def in_numbers(show: Show) -> bool:
    """Return whether the gates of a run stand there as numbers; if these could not be read, they are stripes."""
    return any(name.startswith("was:") for name in show.ids)


def overlapping(rects: list[Named], others: list[Named], by: float) -> list[tuple[str, str]]:
    """Return the pairs, one of each list, of which one lies on the other by more than this both ways."""
    left, top, right, bottom = np.array([rect for rect, _ in rects]).reshape(-1, 4).T[:, :, None]
    its_left, its_top, its_right, its_bottom = np.array([rect for rect, _ in others]).reshape(-1, 4).T
    on = (left + by < its_right) & (right > its_left + by) & (top + by < its_bottom) & (bottom > its_top + by)
    pairs = [(rects[a][1], others[b][1]) for a, b in np.argwhere(on)]
    return [pair for pair in pairs if pair[0] != pair[1]]


def number(text: str, true: Tensor) -> bool:
    """Return whether a number in a sentence is the largest magnitude of a gradient."""
    most = float(true.abs().max()) if not true.isnan().any() else float("nan")
    return text == f"{most:.3g}"


NUMBER = r"([\d.]+(?:e[+-]\d+)?|nan|inf)"
