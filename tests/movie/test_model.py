"""Cells and changes as plain data: short names, and nothing that is not needed."""

from packviz.show.movie.model import CHANGEABLE, NO_TOKEN, Cell, Change, Place

HERE, THERE = Place("x", 1.0, 2.0), Place("strip", 0.1 + 0.2, 0.0)


def test_a_cell_names_only_what_differs_from_the_defaults() -> None:
    assert Cell("a", "token", HERE).to_dict() == {"role": "token", "p": "x", "x": 1, "y": 2}


def test_a_cell_says_everything_that_was_set() -> None:
    cell = Cell("a", "pad", HERE, 2.0, 0.5, "word", "7", 1, 3, 0.25, (0.5, None), "input", "wrong", shown=False)
    assert cell.to_dict() == {
        "role": "pad", "p": "x", "x": 1, "y": 2, "w": 2, "h": 0.5, "text": "word", "sub": "7", "seq": 1,
        "token": 3, "v": 0.25, "vec": (0.5, None), "scale": "input", "tone": "wrong", "shown": False,
    }  # fmt: skip


def test_zero_is_a_number_and_no_number_is_none() -> None:
    assert Cell("a", "value", HERE, value=0.0).to_dict()["v"] == 0
    assert "v" not in Cell("a", "value", HERE).to_dict()
    assert Cell("a", "token", HERE, sequence=0, token=0).to_dict()["seq"] == 0


def test_a_change_names_its_cell_by_number_and_only_what_changes() -> None:
    assert Change("a", tone="").to_dict(5) == {"c": 5, "tone": ""}
    assert Change("a", shown=False).to_dict(0) == {"c": 0, "shown": False}


def test_a_change_carries_where_its_cell_comes_from() -> None:
    change = Change("a", place=HERE, origin=THERE)
    assert change.to_dict(1) == {"c": 1, "p": "x", "x": 1, "y": 2, "from": ["strip", 0.3, 0]}
    assert set(change.named()) == {"place"}


def test_a_token_can_be_taken_away() -> None:
    assert Change("a", token=NO_TOKEN).to_dict(2) == {"c": 2, "token": None}
    assert "token" not in Cell("a", "token", HERE, token=NO_TOKEN).to_dict()


def test_a_change_can_name_everything_that_is_not_fixed_for_good() -> None:
    assert set(CHANGEABLE) == set(Cell.__dataclass_fields__) - {"id", "role", "sequence"}
    assert set(CHANGEABLE) == set(Change.__dataclass_fields__) - {"id", "origin"}
