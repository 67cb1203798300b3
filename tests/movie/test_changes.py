"""Frames are compared: what comes, goes or looks different is told, in as few blocks as there are ways to change."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from movie_screen import unpacked
from numpy.typing import NDArray

from packviz.show.movie.changes import Changes
from packviz.show.movie.marks import Marks, Place, frame, marks


def row(x: float | NDArray[np.float64] = 0.0, **more: Any) -> Marks:
    """Return three marks at 0, 1 and 2, moved to the right by x."""
    return marks("token", "token", Place("x", np.arange(3.0) + x, 0.0), (np.arange(3),)).but(**more)


def told(blocks: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield beat, mark, field and value of every change of three marks."""
    for _, when, sizes, picked, fields in blocks:
        beats = unpacked(when, 1, [])
        counts = unpacked(3 if sizes is None else sizes, len(beats), [])
        beat = [each for each, count in zip(beats, counts, strict=True) for _ in range(count)]
        marks = [0, 1, 2] * len(beats) if picked is None else unpacked(picked, len(beat), [])
        for field, column in fields.items():
            values = unpacked(column, len(beat), [])
            yield from zip(beat, marks, [field] * len(beat), values, strict=True)


def test_what_looks_different_is_told_of_those_that_do_alone() -> None:
    moved = np.array([0.0, 0.0, 1.0])
    changes = Changes([frame(row()), frame(row(moved)), frame(row(moved, tone="now"))])
    assert changes.blocks == [[0, 0, 1, 2, {"x": 3}], [0, 1, None, None, {"tone": "now"}]]


def test_what_comes_flies_from_its_origin_and_what_was_there_only_anew() -> None:
    start, first = Place("strip", 7.0, 1.0), np.array([True, False, False])
    come, again = frame(row(origin=start)), frame(row(origin=start, anew=True))
    came, flew = Changes([frame(row(shown=first)), come, dict(come), again]).blocks
    assert came == [0, 0, 2, [1, 2], {"shown": True}]
    assert flew == [0, [0, 2], [2, 3], [1, 2, 0, 1, 2], {"from": ["strip", 7, 1]}]


def test_of_what_is_not_seen_nothing_is_told_until_it_comes() -> None:
    hidden = np.zeros(3, dtype=bool)
    changes = Changes([frame(row()), frame(row(shown=hidden)), frame(row(5.0, shown=hidden)), frame(row(5.0))])
    assert changes.blocks == [
        [0, 2, None, None, {"x": [5, 6, 7]}],
        [0, [0, 2], None, None, {"shown": [False] * 3 + [True] * 3}],
    ]


def test_many_frames_are_told_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [frame(row(float(k), shown=np.arange(3) <= k % 4)) for k in range(9)]
    whole = Changes(frames).blocks
    monkeypatch.setattr("packviz.show.movie.changes.CELLS", 6)
    parts = Changes(frames).blocks
    assert len(parts) > len(whole)
    assert sorted(told(parts)) == sorted(told(whole))
