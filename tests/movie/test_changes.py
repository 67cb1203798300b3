"""Frames are compared: what comes, goes or looks different is told, in as few blocks as there are ways to change."""

import numpy as np

from packviz.show.movie.changes import Changes
from packviz.show.movie.marks import Marks, Place, frame, marks


def row(x: object = 0.0, **more: object) -> Marks:
    """Return three marks at 0, 1 and 2, moved to the right by x."""
    return marks("token", "token", Place("x", np.arange(3.0) + x, 0.0), (np.arange(3),)).but(**more)


def test_the_same_frame_again_changes_nothing() -> None:
    changes = Changes(frame(row()))
    assert changes.to(frame(row())) == []


def test_what_looks_different_is_told_of_those_that_do_alone() -> None:
    changes = Changes(frame(row()))
    assert changes.to(frame(row(np.array([0.0, 0.0, 1.0])))) == [[0, [2], {"x": 3}]]
    assert changes.to(frame(row(np.array([0.0, 0.0, 1.0]), tone="now"))) == [[0, None, {"tone": "now"}]]


def test_what_is_not_in_a_frame_goes_and_comes_again() -> None:
    changes = Changes(frame(row()))
    assert changes.to({}) == [[0, None, {"shown": False}]]
    assert changes.to({}) == []
    assert changes.to(frame(row())) == [[0, None, {"shown": True}]]


def test_what_comes_flies_from_its_origin_and_what_was_there_only_anew() -> None:
    start, first = Place("strip", 7.0, 1.0), np.array([True, False, False])
    changes = Changes(frame(row(shown=first)))
    told = {field: new for _, marks, fields in changes.to(frame(row(origin=start))) for field, new in fields.items()}
    assert told == {"shown": True, "from": ["strip", 7, 1]}
    assert changes.to(frame(row(origin=start))) == []
    assert changes.to(frame(row(origin=start, anew=True))) == [[0, None, {"from": ["strip", 7, 1]}]]


def test_of_what_is_not_seen_nothing_is_told_until_it_comes() -> None:
    hidden, changes = np.zeros(3, dtype=bool), Changes(frame(row()))
    assert changes.to(frame(row(shown=hidden))) == [[0, None, {"shown": False}]]
    assert changes.to(frame(row(5.0, shown=hidden))) == []
    assert changes.to(frame(row(5.0))) == [[0, None, {"x": [5, 6, 7], "shown": True}]]


def test_a_group_that_comes_later_is_known_from_the_beginning_but_not_seen() -> None:
    changes = Changes({})
    assert changes.to(frame(row())) == [[0, None, {"shown": True}]]
    (group,) = changes.data()["groups"]
    assert "shown" not in group
    assert (group["n"], group["role"]) == (3, "token")
