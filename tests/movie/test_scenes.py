"""A step may stand in a scene of its own, and what was on stage may leave it with the next step."""

from packviz.show.movie.film import Film
from packviz.show.movie.model import Cell, Change, Place, Step
from packviz.show.movie.reel import _step

HERE, THERE = Place("x", 0, 0), Place("x", 1, 0)


def film() -> Film:
    made = Film(("pad", "pack"))
    made.add(Cell("a", "token", HERE))
    made.step("pad", "first", 0)
    return made


def test_what_comes_later_comes_with_the_next_step_that_is_shown() -> None:
    made = film()
    made.later([Change("a", place=THERE)])
    made.step("sort", "unseen", 0)
    made.step("pack", "second", 0, [Change("a", tone="now")])
    assert made.steps[1].beats == ((Change("a", place=THERE),), (Change("a", tone="now"),))


def test_what_comes_later_never_comes_without_a_next_step() -> None:
    made = film()
    made.later([Change("a", place=THERE)])
    assert [step.beats for step in made.steps] == [()]
    assert made.cells["a"].place == HERE


def test_what_comes_later_and_changes_nothing_is_no_change() -> None:
    made = film()
    made.later([Change("a", place=THERE)])
    made.later([Change("a", place=HERE)])
    made.step("pack", "second", 0)
    assert made.steps[1].beats == ()


def test_a_step_names_its_scene_only_where_it_has_one_of_its_own() -> None:
    assert "scene" not in _step(Step("pack", "", 0, ()), {})
    assert _step(Step("pack", "", 0, (), scene="pack:memory"), {})["scene"] == "pack:memory"
