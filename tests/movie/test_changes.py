"""Frames are compared: what comes, goes or looks different is told, in as few blocks as there are ways to change."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from packviz.show.movie.changes import Changes
from packviz.show.movie.marks import Marks, Place, frame, marks


def row(x: float | NDArray[np.float64] = 0.0, **more: Any) -> Marks:
    """Return three marks at 0, 1 and 2, moved to the right by x."""
    return marks("token", "token", Place("x", np.arange(3.0) + x, 0.0), (np.arange(3),)).but(**more)


def test_what_looks_different_is_told_of_those_that_do_alone() -> None:
    moved = np.array([0.0, 0.0, 1.0])
    changes = Changes([frame(row()), frame(row(moved)), frame(row(moved, tone="now"))])
    assert changes.beats == [[[0, [2], {"x": 3}]], [[0, None, {"tone": "now"}]]]


def test_what_comes_flies_from_its_origin_and_what_was_there_only_anew() -> None:
    start, first = Place("strip", 7.0, 1.0), np.array([True, False, False])
    come, again = frame(row(origin=start)), frame(row(origin=start, anew=True))
    arrival, nothing, anew = Changes([frame(row(shown=first)), come, dict(come), again]).beats
    assert arrival == [[0, [1, 2], {"shown": True, "from": ["strip", 7, 1]}]]
    assert nothing == []
    assert anew == [[0, None, {"from": ["strip", 7, 1]}]]


def test_of_what_is_not_seen_nothing_is_told_until_it_comes() -> None:
    hidden = np.zeros(3, dtype=bool)
    changes = Changes([frame(row()), frame(row(shown=hidden)), frame(row(5.0, shown=hidden)), frame(row(5.0))])
    assert changes.beats == [
        [[0, None, {"shown": False}]],
        [],
        [[0, None, {"x": [5, 6, 7], "shown": True}]],
    ]


def test_many_frames_are_told_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [frame(row(float(k), shown=np.arange(3) <= k % 4)) for k in range(9)]
    whole = Changes(frames).beats
    monkeypatch.setattr("packviz.show.movie.changes.CELLS", 6)
    assert Changes(frames).beats == whole
    assert all(whole)
