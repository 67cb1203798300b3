"""Where things stand: nothing on top of something else, everything inside the picture, on a desk and in a hand."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from typing import Any

from movie_cases import CASES, Case, over
from movie_screen import Look, rect_of

from packviz.show.movie.layout import Margins, Scene, above, beside, panel

SOLID = {"token", "ghost", "pad", "value", "vector", "output", "count"}  # what may not lie on another of these
MARKS = {"ring", "focus", "bracket"}  # what is drawn around something
PANELS = {"pad": {"x"}, "embed": {"x"}, "sort": {"x"}, "pack": {"x", "strip"}, "unpack": {"out", "u", "last"}}
RUN = {"strip", "out", "cell", "h", "hn"}

Rect = tuple[float, float, float, float]


def views(case: Case) -> Iterator[tuple[str, dict[str, Any], dict[str, Look]]]:
    """Yield each stage in every way in which it can be set, after its last step; in a short movie, after each."""
    scenes, short = case.movie.to_dict()["scenes"], len(case.show.ids) < 150
    for i, (step, cells) in enumerate(zip(case.show.steps, case.show.after, strict=True)):
        last = i + 1 == len(case.show.steps) or case.show.steps[i + 1]["stage"] != step["stage"]
        if short or last:
            yield from ((step["stage"], view, cells) for views in scenes[step["stage"]].values() for view in views)


def shown(view: dict[str, Any], cells: dict[str, Look], roles: set[str]) -> list[tuple[Rect, str]]:
    rects = ((rect_of(view, cell), name) for name, cell in cells.items() if cell["shown"] and cell["role"] in roles)
    return [(rect, name) for rect, name in rects if rect]


@over(CASES)
def test_cells_and_letters_do_not_lie_on_one_another(case: Case) -> None:
    for stage, view, cells in views(case):
        assert list(overlapping(shown(view, cells, SOLID | {"label"}))) == [], stage


def overlapping(rects: list[tuple[Rect, str]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs that overlap, by the squares of a grid in which they lie."""
    squares: dict[tuple[int, int], list[tuple[Rect, str]]] = defaultdict(list)
    for rect, name in rects:
        left, top, right, bottom = rect
        for square in product(range(int(left), int(right) + 1), range(int(top), int(bottom) + 1)):
            for other, there in squares[square]:
                across = min(other[2], right) - max(other[0], left)
                if across > 0.02 and min(other[3], bottom) - max(other[1], top) > 0.02:
                    yield there, name
            squares[square].append((rect, name))


@over(CASES)
def test_everything_lies_inside_the_picture_or_begins_in_it_where_it_is_written(case: Case) -> None:
    for stage, view, cells in views(case):
        for (left, top, right, bottom), name in shown(view, cells, SOLID | MARKS | {"axis"}):
            inside = left >= -0.01 and top >= -0.01 and right <= view["w"] + 0.01 and bottom <= view["h"] + 0.01
            assert inside, (stage, name, (left, top, right, bottom), (view["w"], view["h"]))
        for (left, top, _, _), name in shown(view, cells, {"label", "note", "title"}):
            assert -0.01 <= left <= view["w"], (stage, name)
            assert -0.01 <= top <= view["h"] - 0.3, (stage, name)


@over(CASES)
def test_a_stage_has_the_panels_that_it_is_about(case: Case) -> None:
    for stage, set_ in case.movie.to_dict()["scenes"].items():
        if stage == "run":
            assert all(set(view["at"]) in (RUN, RUN | {"x"}) for view in set_["wide"])
            assert all(set(view["at"]) == RUN - {"out"} for view in set_.get("tall", ()))
        else:
            assert all(set(view["at"]) == PANELS[stage] for views in set_.values() for view in views)
        for views in set_.values():
            assert len({str(view) for view in views}) == len(views) > 0  # no two ways alike


@over(CASES)
def test_a_strip_breaks_between_cells_and_shows_all_of_them(case: Case) -> None:
    for _, view, cells in views(case):
        for name, (_, *starts) in view.get("breaks", {}).items():
            assert starts == sorted(set(starts))
            rows = [
                c for c in cells.values() if c["p"] == name and c["role"] in ("token", "pad", "output") and c["shown"]
            ]
            for row in rows:
                assert not any(row["x"] + 1e-3 < start < row["x"] + row["w"] - 1e-3 for start in starts), row["id"]


@over(CASES)
def test_rings_are_drawn_around_a_cell_of_their_sequence(case: Case) -> int:
    cells = [cell for cell in case.show.after[-1].values() if cell["shown"]]
    solid = [cell for cell in cells if cell["role"] in ("value", "vector", "output")]
    rings = [cell for cell in cells if cell["role"] == "ring"]
    for ring in rings:
        inside = [cell for cell in solid if cell["p"] == ring["p"] and meet(cell, ring)]
        assert {cell["seq"] for cell in inside} == {ring["seq"]}, ring["id"]
    return len(rings)


def meet(one: Look, other: Look) -> bool:
    return all(
        max(one[start], other[start]) < min(one[start] + one[size], other[start] + other[size]) - 1e-3
        for start, size in ("xw", "yh")
    )


def test_boxes_beside_one_another_stand_level_and_apart() -> None:
    box = beside(panel("a", 3, 2, Margins(1, 1)), panel("b", 1, 5, Margins(0.5, 0.25)), gap=2)
    assert (box.width, box.height) == (4 + 2 + 1.5, 5.25)
    assert box.panels == {"a": (1, 1), "b": (6.5, 0.25)}


def test_boxes_above_one_another_stand_flush_and_apart() -> None:
    box = above(panel("a", 3, 2, Margins(1, 1)), panel("b", 1, 5, Margins(0.5, 0.25)), gap=2)
    assert (box.width, box.height) == (4, 3 + 2 + 5.25)
    assert box.panels == {"a": (1, 1), "b": (0.5, 5.25)}


def test_a_scene_is_set_for_every_shape_of_screen() -> None:
    flat, high = panel("x", 9, 1, Margins()), panel("x", 1, 9, Margins())
    made = Scene([flat, high], [high]).to_dict()
    assert [(view["w"], view["h"]) for view in made["wide"]] == [(9, 1), (1, 9)]
    assert [(view["w"], view["h"]) for view in made["tall"]] == [(1, 9)]
