"""Between two frames: scenes give way to one another, and rows that exchange places pass beside each other."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import packviz as pv
from packviz import Batch, Config, Movie
from player.build import node

DESK, HAND = (830, 410), (370, 420)  # pixels of the picture
BODIES = {"token", "ghost", "pad", "value", "vector", "output", "label", "flag"}
SAMPLE = Path(__file__).parent / "sample_motion.js"
FIELDS = ("id", "role", "p", "alpha", "x", "y", "w", "h")
Sample = dict[str, Any]


def sampled(
    movie: Movie, first: int, last: int, size: tuple[int, int] = DESK, many: int = 12, most: int = 99
) -> list[Sample]:
    """Sample what is drawn on the way from the end of one step to the end of another, by the player's own functions."""
    times, roles = [i / many for i in range(many + 1)], [*BODIES, "note", "ring", "thread"]
    asked = {"movie": movie.to_dict(), "size": size, "from": first, "to": last, "times": times, "only": roles}
    groups = sorted(movie.changes.groups, key=lambda group: group.role in ("ring", "mark"))  # as they are painted
    ids = [name for group in groups for name in group.ids]
    return [
        {"there": there, "t": t, "told": [dict(zip(FIELDS, (ids[i], *look), strict=True)) for i, *look in told]}
        for there, t, told in json.loads(node(SAMPLE, text=json.dumps(asked | {"most": most})))
    ]


def typed(lengths: list[int]) -> Batch:
    return Batch.parse("\n".join(" ".join(str(k % 10) for k in range(n)) for n in lengths))


BATCHES = {
    "numbers": (typed([3, 2, 4]), Config()),
    "words": (Batch.parse("she sleeps\nI love cats very much\nhello"), Config(embedding_dim=4)),
    "time-first": (typed([3, 2, 4, 1]), Config(batch_first=False)),
    "two-directions": (typed([1, 3, 2]), Config(bidirectional=True, cell="lstm")),
    "reversed": (typed([*range(1, 13)]), Config()),
    "twenty": (typed([7 * n % 20 + 1 for n in range(20)]), Config()),
    "random": (typed(random.Random(3).choices(range(1, 9), k=9)), Config()),
}


@cache
def movie_of(name: str) -> Movie:
    return pv.movie(pv.trace(*BATCHES[name]))


def last(movie: Movie, stage: str) -> int:
    return max(i for i, step in enumerate(movie.steps) if step.stage == stage)


def lying_on(cells: list[Sample], others: list[Sample]) -> list[tuple[str, str]]:
    """Return the pairs that overlap by more than a pixel both ways."""
    squares: dict[tuple[int, int], list[Sample]] = defaultdict(list)
    for cell in others:
        for square in squares_of(cell):
            squares[square].append(cell)
    return [
        (a["id"], b["id"])
        for a in cells
        for b in {cell["id"]: cell for square in squares_of(a) for cell in squares[square]}.values()
        if a["id"] != b["id"]
        and min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"]) > 1
        and min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"]) > 1
    ]


def squares_of(cell: Sample) -> Iterator[tuple[int, int]]:
    across, down = (range(int(cell[at] // 16), int((cell[at] + cell[size]) // 16) + 1) for at, size in ("xw", "yh"))
    return product(across, down)


@pytest.mark.parametrize("size", [DESK, HAND], ids=["desk", "hand"])
@pytest.mark.parametrize("name", ["numbers", "words", "time-first", "two-directions"])
@pytest.mark.parametrize("stage", ["sort", "pack", "run"])
def test_no_cell_that_comes_lies_on_one_that_goes(name: str, stage: str, size: tuple[int, int]) -> None:
    movie, spoke = movie_of(name), 0
    here = last(movie, stage)
    for first, then in ((here, here + 1), (here + 1, here)):
        ways = sampled(movie, first, then, size, most=2)
        before, after = ({cell["id"] for cell in way["told"] if cell["alpha"] == 1} for way in (ways[0], ways[-1]))
        for way in ways:
            going = [cell for cell in way["told"] if cell["id"] in before - after]
            coming = [cell for cell in way["told"] if cell["id"] in after - before]
            assert lying_on(going, coming) == [], way["t"]
            spoke += bool(going) + bool(coming)
    assert spoke


@pytest.mark.parametrize("size", [DESK, HAND], ids=["desk", "hand"])
@pytest.mark.parametrize("name", ["numbers", "words", "time-first", "two-directions"])
@pytest.mark.parametrize("stage", ["sort", "pack", "run"])
def test_panels_do_not_cross_while_the_scene_changes(name: str, stage: str, size: tuple[int, int]) -> None:
    movie = movie_of(name)
    here = last(movie, stage)
    ways = [way for way in sampled(movie, here, here + 1, size, most=1) if not way["there"]]
    assert ways
    for way in ways:
        bodies = [cell for cell in way["told"] if cell["role"] in BODIES and not cell["id"].startswith("ghost:")]
        panels = [[cell for cell in bodies if cell["p"] == panel] for panel in {cell["p"] for cell in bodies}]
        for i, panel in enumerate(panels):
            assert [pair for other in panels[:i] for pair in lying_on(panel, other)] == [], way["t"]
            assert lying_on(panel, panel) == [], way["t"]


@pytest.mark.parametrize("size", [DESK, HAND], ids=["desk", "hand"])
@pytest.mark.parametrize("name", list(BATCHES))
def test_rows_that_exchange_places_never_lie_on_one_another(name: str, size: tuple[int, int]) -> None:
    movie = movie_of(name)
    for then, prefixes in (
        (last(movie, "sort"), ("token:", "pad:", "label:", "length:")),
        (last(movie, "unpack") - 1, ("u:", "filler:", "ulabel:", "ulength:")),
    ):
        for first, end in ((then - 1, then), (then, then - 1)):
            ways = sampled(movie, first, end, size)
            start, stop = ({cell["id"]: (cell["x"], cell["y"]) for cell in way["told"]} for way in (ways[0], ways[-1]))
            assert any(start[each] != stop[each] for each in start if each in stop)
            for way in ways:
                rows = [cell for cell in way["told"] if cell["id"].startswith(prefixes)]
                assert lying_on(rows, rows) == [], way["t"]
                inside = all(cell["x"] > -1 and cell["x"] + cell["w"] < size[0] + 1 for cell in way["told"])
                assert inside, way["t"]


def test_the_output_goes_back_column_by_column() -> None:
    movie = movie_of("numbers")
    flown = [way for way in sampled(movie, last(movie, "run"), last(movie, "run") + 1) if way["there"]]
    there = [
        sorted({int(cell["id"][-1]) for cell in way["told"] if cell["id"].startswith("u:")})
        for way in flown
        if way["t"] == 1
    ]
    assert there == [[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]


def test_a_ring_comes_when_its_cell_has_come() -> None:
    movie = movie_of("numbers")
    rang = 0
    for step in range(last(movie, "pack") + 1, last(movie, "run")):
        for way in sampled(movie, step, step + 1):
            cells = {cell["id"]: cell for cell in way["told"]}
            for ring in (cell for name, cell in cells.items() if name.startswith("ring:out:") and cell["alpha"] < 1):
                rang += 1
                assert way["t"] > 0.6, ring
    assert rang


def test_rows_leave_the_threads_of_the_lesson_free() -> None:
    movie = pv.movie(pv.trace(*BATCHES["twenty"]), ("sort",), deep=True)
    then = next(i for i, played in enumerate(movie.steps) if played.name == "sorted")
    for way in sampled(movie, then - 1, then, many=4):
        threads = [cell["x"] + cell["w"] for cell in way["told"] if cell["role"] == "thread"]
        assert threads
        assert min(cell["x"] for cell in way["told"] if cell["p"] == "x") > max(threads) - 1, way["t"]
