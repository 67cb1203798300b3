"""Between two frames: scenes give way to one another, and rows that exchange places pass beside each other."""

import json
import random
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from movie_screen import overlapping, typed

import packviz as pv
from packviz import Batch, Config, Movie
from player.build import node

pytestmark = pytest.mark.slow

Size = tuple[int, int]
Sample = dict[str, Any]

DESK, HAND = (830, 410), (370, 420)  # pixels of the picture
BODIES = {"token", "ghost", "pad", "value", "vector", "output", "label", "flag"}
TEXTS = {"title", "axis", "note", "count", "bracket"}
SAMPLE = Path(__file__).parent / "sample_motion.js"
FIELDS = ("id", "role", "p", "alpha", "x", "y", "w", "h")


def sampled(
    movie: Movie,
    steps: Iterable[tuple[int, int]],
    size: Size = DESK,
    many: int = 12,
    *,
    most: int = 99,
    fitted: bool = False,
) -> Iterator[list[Sample]]:
    """Yield what is drawn on the way from the end of one step to the end of another, by the player's own functions.

    It comes in the order in which it is drawn.
    fitted: whether each scene is laid out for its texts, as on the screen.
    """
    asked = {"size": size, "times": [i / many for i in range(many + 1)], "most": most, "fitted": fitted}
    ways = [{"from": first, "to": last} | asked for first, last in steps]
    whole = {"movie": movie.to_dict(), "ways": ways, "only": [*BODIES, *TEXTS, "ring", "thread"]}
    ids = movie.ids
    for way in json.loads(node(SAMPLE, text=json.dumps(whole))):
        yield [
            {"there": there, "t": t, "told": [dict(zip(FIELDS, (ids[i], *look), strict=True)) for i, *look in told]}
            for there, t, told in way
        ]


BATCHES = {
    "numbers": (Batch.parse(typed([3, 2, 4])), Config()),
    "words": (Batch.parse("she sleeps\nI love cats very much\nhello"), Config(embedding_dim=4)),
    "time-first": (Batch.parse(typed([3, 2, 4, 1])), Config(batch_first=False)),
    "two-directions": (Batch.parse(typed([1, 3, 2])), Config(bidirectional=True, cell="lstm")),
    "reversed": (Batch.parse(typed([*range(1, 13)])), Config()),
    "twenty": (Batch.parse(typed([7 * n % 20 + 1 for n in range(20)])), Config()),
    "random": (Batch.parse(typed(random.Random(3).choices(range(1, 9), k=9))), Config()),
}


@cache
def movie_of(name: str) -> Movie:
    return pv.movie(pv.trace(*BATCHES[name]))


def lying_on(cells: list[Sample], others: list[Sample]) -> list[tuple[str, str]]:
    """Return the pairs that overlap by more than a pixel both ways."""
    ones, twos = (
        [((cell["x"], cell["y"], cell["x"] + cell["w"], cell["y"] + cell["h"]), cell["id"]) for cell in each]
        for each in (cells, others)
    )
    return overlapping(ones, twos, by=1)


@pytest.mark.parametrize(
    ("name", "size"), [("numbers", HAND), ("words", DESK), ("time-first", DESK), ("two-directions", HAND)]
)
def test_panels_do_not_cross_while_the_scene_changes(name: str, size: Size) -> None:
    movie = movie_of(name)
    heres = [movie.step_at(stage) - 1 for stage in ("sort", "pack", "run")]
    there_and_back = [way for here in heres for way in ((here, here + 1), (here + 1, here))]
    spoke: set[int] = set()
    for i, ways in enumerate(sampled(movie, there_and_back, size, most=2)):
        before, after = ({cell["id"] for cell in way["told"] if cell["alpha"] == 1} for way in (ways[0], ways[-1]))
        spoke |= {i // 2} if before ^ after else set()
        for way in ways:
            going = [cell for cell in way["told"] if cell["id"] in before - after]
            coming = [cell for cell in way["told"] if cell["id"] in after - before]
            assert lying_on(going, coming) == [], (there_and_back[i], way["t"])
        on_the_way = [way for way in ways[: len(ways) // 2] if not way["there"]] if i % 2 == 0 else []
        assert on_the_way or i % 2
        for way in on_the_way:
            bodies = [cell for cell in way["told"] if cell["role"] in BODIES and not cell["id"].startswith("ghost:")]

            assert lying_on(bodies, bodies) == [], way["t"]
    assert spoke == {0, 1, 2}


@pytest.mark.parametrize(("name", "size"), [*((name, DESK) for name in BATCHES), ("words", HAND), ("twenty", HAND)])
def test_rows_that_exchange_places_never_lie_on_one_another(name: str, size: Size) -> None:
    movie = movie_of(name)
    sort, unpack = movie.step_at("sort") - 1, movie.step_at("unpack") - 2
    there_and_back = [(sort - 1, sort), (sort, sort - 1), (unpack - 1, unpack), (unpack, unpack - 1)]
    rows_of = [("token:", "pad:", "label:", "length:")] * 2 + [("u:", "filler:", "ulabel:", "ulength:")] * 2
    for ways, prefixes in zip(sampled(movie, there_and_back, size), rows_of, strict=True):
        start, stop = ({cell["id"]: (cell["x"], cell["y"]) for cell in way["told"]} for way in (ways[0], ways[-1]))
        assert any(start[each] != stop[each] for each in start if each in stop)
        for way in ways:
            rows = [cell for cell in way["told"] if cell["id"].startswith(prefixes)]
            assert lying_on(rows, rows) == [], way["t"]
            assert all(cell["x"] > -1 and cell["x"] + cell["w"] < size[0] + 1 for cell in way["told"]), way["t"]


@pytest.mark.parametrize("size", [DESK, HAND])
def test_numbers_that_come_from_one_cell_never_lie_on_one_another(size: Size) -> None:
    movie = pv.movie(pv.trace_rows(Batch.parse("she sleeps\nI love cats very much")), ("attention",))
    flown = 0
    for ways in sampled(movie, [(0, 1), (3, 4)], size):
        for way in ways:
            for name in ("query:", "sum:"):
                numbers = [cell for cell in way["told"] if cell["id"].startswith(name)]
                flown += len({cell["x"] for cell in numbers}) > 1
                assert lying_on(numbers, numbers) == [], (name, way["t"])
    assert flown


ROW_BATCH = Batch.parse("she sleeps\nI love cats very much\nhello there")
WHOLE = {
    "overview": lambda: pv.movie(pv.trace(Batch.parse("I love cats\nshe sleeps\nwe sing old songs"))),
    "lessons": lambda: pv.movie(pv.trace(Batch.parse("I love cats\nshe sleeps\nwe sing old songs")), deep=True),
    "lstm": lambda: pv.movie(
        pv.trace(Batch.parse(typed([3, 5, 1, 4])), Config(cell="lstm", bidirectional=True)), deep=True
    ),
    "long": lambda: pv.movie(pv.trace(Batch.parse(typed([20, 3, 12])))),
    "rows": lambda: pv.movie(pv.trace_rows(ROW_BATCH)),
    "rows-lessons": lambda: pv.movie(pv.trace_rows(ROW_BATCH), deep=True),
}


ANEW = {"gate", "score", "weight", "sum"}  # other numbers at each step, in the same places


@pytest.mark.parametrize("size", [DESK, HAND], ids=["desk", "phone"])
@pytest.mark.parametrize("name", WHOLE)
def test_a_cell_that_both_steps_show_never_vanishes_between_them(name: str, size: Size) -> None:
    movie = WHOLE[name]()
    there_and_back = [way for i in range(1, len(movie.steps)) for way in ((i - 1, i), (i, i - 1))]
    stayed = 0
    for (first, last), ways in zip(there_and_back, sampled(movie, there_and_back, size, 8, fitted=True), strict=True):
        drawn = [{cell["id"]: cell["alpha"] for cell in way["told"] if cell["role"] in BODIES} for way in ways]
        narrow = {"label", "ulabel"} if name == "long" else set()  # hidden while rows are narrower than a letter
        both = {each for each in drawn[0].keys() & drawn[-1].keys() if each.split(":")[0] not in ANEW | narrow}
        stayed += len(both)
        gone = {each for cells in drawn for each in both if cells.get(each, 0) < 0.5}
        assert gone == set(), (first + 1, last + 1)
    assert stayed


@pytest.mark.parametrize("name", ["overview", "lessons", "lstm", "rows"])
def test_no_cell_covers_a_text_or_number_that_it_moves_past(name: str) -> None:
    movie = WHOLE[name]()
    steps, passed = [(i - 1, i) for i in range(1, len(movie.steps))], 0
    on_the_way = (
        ways[i : i + 9] for ways in sampled(movie, steps, HAND, 8, fitted=True) for i in range(0, len(ways), 9)
    )
    for beat in on_the_way:
        start, stop = ({cell["id"]: (cell["x"], cell["y"]) for cell in beat[i]["told"]} for i in (1, -1))
        moved = {each for each in start if start[each] != stop.get(each, start[each])}
        for way in beat if beat[0]["there"] else ():
            drawn = {cell["id"]: i for i, cell in enumerate(way["told"])}
            flying = [cell for cell in way["told"] if cell["role"] in BODIES and cell["id"] in moved]
            texts = [cell for cell in way["told"] if cell["role"] in {*TEXTS, "value"} and cell["id"] not in moved]
            for cell, text in lying_on(flying, texts):
                passed += 1
                assert drawn[text] > drawn[cell], (way["t"], text, cell)
    assert passed
