"""Plays a movie as the player does: from its plain data, change after change."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate, islice
from math import isfinite
from typing import Any

from torch import Tensor

from packviz.show.movie import Movie
from packviz.show.movie.staging import View

__all__ = ["Look", "Show", "Told", "cells", "close", "detail", "grid_of", "listed", "match", "shape_of", "standing"]
__all__ += ["state", "tokens", "typed", "units_of", "visible", "within"]

Look = dict[str, Any]  # a cell as it is now, by the short names of the data
Told = tuple[dict[str, Any], dict[str, Look]]  # a step, and the cells after it
DEFAULTS: Look = {"w": 1, "h": 1, "text": "", "sub": "", "token": None, "scale": "state", "tone": "", "shown": False}


class Show:
    """A movie being shown: `before[i]` and `after[i]` are the cells by id, before and after the i-th step."""

    def __init__(self, movie: Movie) -> None:
        self.movie = movie
        self.data = movie.to_dict()
        self.ids = movie.ids
        named = zip(self.ids, cells(self.data), strict=True)
        self.first: dict[str, Look] = {name: {"id": name} | cell for name, cell in named}
        starts = [0, *accumulate(group[-1].get("n", 1) for group in self.data["groups"])]
        changes = self._changes(starts)
        beats, stage = iter(range(10**9)), ""
        self.steps: list[dict[str, Any]] = []
        for step in self.data["steps"]:
            stage = step.get("stage", stage)
            told = [changes[beat] for beat in islice(beats, step.get("beats", 2)) if beat in changes]
            self.steps.append(step | {"stage": stage, "code": self.data["lines"][stage], "beats": told})
        views = [View(*view) for view in self.data["views"]]
        self.scenes = {
            name: {way: [views[view] for view in each] for way, each in zip(("wide", "tall"), scene, strict=False)}
            for name, scene in self.data["scenes"].items()
        }

    def _changes(self, starts: list[int]) -> dict[int, list[dict[str, Any]]]:
        """Return of each beat that changes something what it changes in which cells."""
        shared, beats = self.data["columns"], defaultdict[int, list[dict[str, Any]]](list)
        for numbers, when, sizes, picked, columns in self.data["changes"]:
            for number in numbers if isinstance(numbers, list) else [numbers]:
                count = self.data["groups"][number][-1].get("n", 1)
                told = unpacked(when, 1, shared)
                counts = unpacked(count if sizes is None else sizes, len(told), shared)
                beat = [each for each, size in zip(told, counts, strict=True) for _ in range(size)]
                marks = [*range(count)] * len(told) if picked is None else unpacked(picked, len(beat), shared)
                for i, mark, change in zip(beat, marks, records(columns, len(beat), self.data), strict=True):
                    beats[i].append({"c": starts[number] + mark} | change)
        return beats

    @cached_property
    def after(self) -> list[dict[str, Look]]:
        frames, cells = [], self.first
        for step in self.steps:
            cells = self.played(cells, step["beats"])
            frames.append(cells)
        return frames

    def played(self, cells: dict[str, Look], beats: list[list[dict[str, Any]]]) -> dict[str, Look]:
        """Return the cells after some beats of a step, in the order in which they are played."""
        cells = dict(cells)
        for change in (change for beat in beats for change in beat):
            name = self.ids[change["c"]]
            cells[name] = cells[name] | {key: new for key, new in change.items() if key not in ("c", "from")}
        return cells

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
        return {self.ids[c["c"]]: tuple(c["from"]) for beat in step["beats"] for c in beat if "from" in c}

    def twice_changed(self) -> list[str]:
        """Return the cells of which one beat changes a field more than once."""
        told = (
            Counter((change["c"], field) for change in beat for field in change if field != "c")
            for step in self.steps
            for beat in step["beats"]
        )
        return [self.ids[c] for beat in told for (c, _), times in beat.items() if times > 1]

    def idle_changes(self) -> Iterable[tuple[int, str]]:
        """Yield step and cell of every change that names no cell that is there, or changes nothing in it.

        Rows of numbers are told apart by where they stand, and two of them may be the same.
        """
        cells = dict(self.first)
        for i, step in enumerate(self.steps):
            for change in (change for beat in step["beats"] for change in beat):
                new = {key: value for key, value in change.items() if key not in ("c", "from")}
                if not 0 <= change["c"] < len(self.ids):
                    yield i, f"number {change['c']}"
                    continue
                name = self.ids[change["c"]]
                if not {"from", "vec"} & set(change) and all(
                    cells[name].get(key) == value for key, value in new.items()
                ):
                    yield i, name
                cells[name] = cells[name] | new


def typed(lengths: Iterable[int]) -> str:
    """Return sequences of these lengths as somebody types them: digits from 0 on."""
    return "\n".join(" ".join(str(k % 10) for k in range(length)) for length in lengths)


def visible(cells: dict[str, Look]) -> dict[str, Look]:
    """Return what is seen of cells, for movies to be compared that count their groups in another way."""
    return {
        name: {key: value for key, value in cell.items() if key != "f" and value is not None}
        for name, cell in cells.items()
        if cell["shown"]
    }


def standing(cells: dict[str, Look], *families: str) -> list[Look]:
    """Return the cells of these families that are shown."""
    return [cell for name, cell in cells.items() if cell["shown"] and name.split(":")[0] in families]


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


def cells(data: dict[str, Any]) -> Iterator[Look]:
    """Yield every cell of a movie as it is before the first step."""
    for number, (role, p, x, y, more) in enumerate(data["groups"]):
        columns = {"role": role, "p": p, "x": x, "y": y, **more}
        count, tip = columns.pop("n", 1), {"f": number} if columns.pop("tip", None) is not None else {}
        for cell in records(columns, count, data):
            yield DEFAULTS | cell | tip


def records(columns: dict[str, Any], count: int, data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what columns hold, record by record; a row of numbers is looked up, a place is put together."""
    shared = data["columns"]
    plain = {name: unpacked(column, count, shared) for name, column in columns.items() if name != "from"}
    if "vec" in plain:
        plain["vec"] = [None if row is None else numbers(data, row) for row in plain["vec"]]
    if "v" in plain:
        plain["v"] = [value / 10_000 for value in plain["v"]]
    if "from" in columns:
        plain["from"] = list(zip(*(unpacked(column, count, shared) for column in columns["from"]), strict=True))
    for i in range(count):
        yield {name: column[i] for name, column in plain.items()}


def numbers(data: dict[str, Any], row: int) -> list[float | None]:
    """Return a row of numbers; they are told in ten-thousandths."""
    return [None if value is None else value / 10_000 for value in data["numbers"][row]]


def unpacked(column: Any, count: int, shared: list[Any]) -> list[Any]:
    """Return a column with one value for each."""
    if isinstance(column, list):
        return shared[column[0]] if len(column) == 1 else column
    if not isinstance(column, dict):
        return [column] * count
    triples = zip(*[iter(column["runs"])] * 3, strict=True)
    return [round(first + k * step, 4) for first, step, count in triples for k in range(count)]


def tokens(movie: Movie) -> list[dict[str, Any]]:
    """Return the tokens with what they say when pointed at, filled in as the player does."""
    data = movie.to_dict()
    told, sequences = data["tokens"], data["sequences"]
    names = ("b", "t", "n", "said", "offsets")
    *columns, offsets = (unpacked(told[name], told["count"], data["columns"]) for name in names)
    found = []
    for b, t, n, typed in zip(*columns, strict=True):
        said = told["typed"].format(said=typed) if typed else ""
        tip = said + told["tip"].format(seq=sequences[b][0], t=t)
        if n >= 0:
            offset = offsets[t]
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
