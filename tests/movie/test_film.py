"""The film in the making: what is named, what is cut, and what happens unseen."""

import pytest

from packviz.show.movie.film import Film
from packviz.show.movie.model import Cell, Change, Place

HOME, AWAY = Place("x", 0, 0), Place("x", 3, 0)


def film_of(*stages: str) -> Film:
    film = Film(stages)
    film.add(Cell("a", "token", HOME), Cell("b", "token", HOME, shown=False))
    return film


def test_a_change_that_changes_nothing_is_cut() -> None:
    film = film_of("pad")
    film.step("pad", "", 0, [Change("a", place=HOME, tone="now"), Change("b", shown=False)])
    assert film.steps[0].beats == ((Change("a", tone="now"),),)


def test_a_beat_in_which_nothing_changes_is_cut() -> None:
    film = film_of("pad")
    film.step("pad", "", 0, [Change("a", place=HOME)], [Change("b", shown=True)])
    assert film.steps[0].beats == ((Change("b", shown=True),),)


def test_a_cell_that_arrives_anew_is_kept() -> None:
    film = film_of("pad")
    film.step("pad", "", 0, [Change("a", place=HOME, origin=AWAY)])
    assert film.steps[0].beats == ((Change("a", origin=AWAY),),)


def test_what_happens_unseen_before_the_first_step_is_how_the_first_frame_looks() -> None:
    film = film_of("pack")
    film.step("pad", "", 0, [Change("a", place=AWAY)])
    film.step("pack", "", 0)
    assert film.cells["a"].place == AWAY
    assert film.steps[0].beats == ()


def test_what_happens_unseen_later_is_part_of_the_next_step() -> None:
    film = film_of("pad", "pack")
    film.step("pad", "", 0)
    film.step("sort", "", 0, [Change("a", place=AWAY)])
    film.step("pack", "", 0, [Change("b", shown=True)])
    assert [step.stage for step in film.steps] == ["pad", "pack"]
    assert film.steps[1].beats == ((Change("a", place=AWAY),), (Change("b", shown=True),))


def test_an_id_is_given_once() -> None:
    with pytest.raises(KeyError, match="there already"):
        film_of("pad").add(Cell("a", "token", HOME))


def test_no_cell_can_be_put_into_the_first_frame_afterwards() -> None:
    film = film_of("pad")
    film.step("pad", "", 0)
    with pytest.raises(ValueError, match="past it"):
        film.add(Cell("c", "token", HOME))


def test_a_step_can_only_change_cells_that_are_there() -> None:
    with pytest.raises(KeyError):
        film_of("pad").step("pad", "", 0, [Change("z", shown=True)])
