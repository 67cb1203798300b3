"""Where things stand: nothing on top of something else, everything inside the picture, on a desk and in a hand."""

import re
from collections.abc import Iterator
from itertools import permutations
from operator import itemgetter
from pathlib import Path

import pytest
from movie_cases import BESIDE, DEEP, CaseMovie, over
from movie_screen import Arrangement, Look, Named, cell_of, in_numbers, overlapping

from packviz.show.movie.layout import ROOMY, Grid
from packviz.show.movie.packing.gates import LEAST

SOLID = {"token", "ghost", "pad", "value", "vector", "output", "count", "label", "flag"}  # none lies on another of them
MARKS = {"ring", "focus", "bracket", "mark"}  # what is drawn around something
ROOMS = ((670, 322), (670, 390), (930, 520), (1500, 800))  # pixels of the picture at a desk and at a projector
HAND = (366, 430)

each_film = over([*DEEP, *BESIDE])  # what an ordinary movie shows is in the deep one: test_movie.py


def views(film: CaseMovie) -> Iterator[tuple[str, Arrangement, dict[str, Look]]]:
    """Yield each scene after its last step, set in every way; of a short movie one way after each step, too."""
    show, short = film.show, len(film.show.ids) < 150
    names = [step.get("scene", step["stage"]) for step in show.steps]
    for i, cells in enumerate(show.after):
        ways = [view for views in show.scenes[names[i]].values() for view in views]
        last = names[i : i + 2] != [names[i]] * 2
        yield from ((names[i], view, cells) for view in (ways if last else ways[:1] if short else ()))


def shown(view: Arrangement, cells: dict[str, Look], roles: set[str]) -> list[Named]:
    """Return the cells of these roles, in the units of a view."""
    found = []
    for name, cell in cells.items():
        if cell["shown"] and cell["role"] in roles and (rect := view.rect(cell_of(cell))):
            found.append(((rect.x, rect.y, rect.x + rect.w, rect.y + rect.h), name))
    return found


@each_film
def test_nothing_lies_on_something_else_or_outside_the_picture(film: CaseMovie) -> None:
    for scene, view, cells in views(film):
        solid: list[Named] = []
        for (left, top, right, bottom), name in shown(view, cells, SOLID | MARKS | {"axis", "note", "title"}):
            role = cells[name]["role"]
            if role in SOLID:
                solid.append(((left, top, right, bottom), name))
            starts = min(left, top) >= -0.01 and left <= view.w and top <= view.h - 0.3
            ends = role in ("label", "note", "title") or (right <= view.w + 0.01 and bottom <= view.h + 0.01)
            assert starts, (scene, name, (left, top))
            assert ends, (scene, name, (right, bottom), (view.w, view.h))
        assert overlapping(solid, solid, by=0.02) == [], scene


@each_film
def test_a_strip_breaks_between_cells_and_shows_all_of_them(film: CaseMovie) -> None:
    for _, view, cells in views(film):
        for panel, (_, *starts) in view.breaks.items():
            assert starts == sorted(set(starts))
            for row in (c for c in cells.values() if c["p"] == panel and c["shown"]):
                if row["role"] in ("token", "pad", "output"):
                    assert not any(row["x"] + 1e-3 < start < row["x"] + row["w"] - 1e-3 for start in starts), row["id"]


def test_a_number_that_is_just_high_enough_has_the_height_that_the_player_asks_for() -> None:
    sizes = (Path(__file__).parents[2] / "player" / "sizes.js").read_text("utf-8")
    readable, more = re.findall(r"\b(?:READABLE = |WORDED = READABLE \+ )(\d+),", sizes)
    assert LEAST[1] == int(readable) + int(more)


@each_film
def test_headings_do_not_run_into_one_another(film: CaseMovie) -> int:
    """Where their picture is as large as it can be in a room, and their letters as wide as a browser sets them.

    In a hand there is no room for all the headings of a run in numbers: the player ends each where the next begins.
    """
    spoke, scene = 0, film.show.scenes.get("run")
    if scene is None or not (film.kind == "beside" or in_numbers(film.show)):
        return spoke
    told = film.show.of("run")[1:]  # the first step has a scene of its own
    for width, height in (*ROOMS, HAND) if film.kind == "beside" else ROOMS:
        ways = scene.get("tall", scene["wide"]) if (width, height) == HAND else scene["wide"]
        unit, view = max(((min(width / v.w, height / v.h, 58), v) for v in ways), key=itemgetter(0))
        for _, cells in (told[0], *told[-2:]):
            titles = [(rect[0], rect[1], name) for rect, name in shown(view, cells, {"title"})]
            for (left, top, name), (right, below, _) in permutations(titles, 2):
                if abs(top - below) < 0.3 and left < right:
                    spoke += 1
                    wide = 6.9 * len(cells[name]["text"]) * min(max(12, unit * 0.34), 14.5) / 12  # pixels
                    assert wide <= (right - left) * unit, (cells[name]["text"], unit)
    return spoke


@pytest.mark.parametrize("text", [1.0, 2.0])
def test_the_names_of_time_steps_and_the_line_around_one_end_above_the_cells(text: float) -> None:
    grid = Grid("x", 30, 9, text=text)
    assert grid.axis(0).y + grid.axis_height < 0


def test_batch_sizes_are_named_below_their_numbers_where_cells_are_low() -> None:
    grid = Grid("x", 30, int(ROOMY) + 1, text=2.0)
    panels, heading = grid.box().panels, grid.counts_heading()
    y = panels[heading.panel][1] + heading.y - panels["x"][1]
    assert y - grid.count(0).y >= 1.8 * grid.text  # a bar, its number and a gap
    assert y + 0.9 * grid.text <= grid.box().height - panels["x"][1]  # its letters take less than its line


def test_a_grid_is_lower_with_the_name_of_batch_sizes_beside_them() -> None:
    grid = Grid("x", 3, int(ROOMY) + 1)
    low, high = grid.box(beside=True), grid.box()
    heading = low.panels[grid.counts_heading().panel]
    assert low.height < high.height - 1.5
    assert heading[0] > low.panels["x"][0] + grid.columns
    assert heading[0] + len("batch_sizes") * 0.264 <= low.width  # a letter takes 0.6 of a line of 0.44 units
