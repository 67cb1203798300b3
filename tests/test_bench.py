"""The bench: that its parts are there and its lines are honest. What they measure is for `make bench`."""

from math import nan
from pathlib import Path

import pytest

from bench.__main__ import BY_NAME, PARTS
from bench.crowds import crowd, figure
from bench.frames import Motion
from bench.growth import bytes_of
from bench.report import Line, Target, at_least, at_most
from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from packviz.show.movie import Movie

BENCH = Path(__file__).parent.parent / "bench"


def test_every_part_can_be_called_by_name() -> None:
    assert list(PARTS) == ["first_paint", "rerun", "frames", "trace_cost", "movie_cost", "growth", "fills", "doctor"]
    assert list(BY_NAME) == [*PARTS, "editing", "soak"]
    assert all((BENCH / f"{name}.py").exists() and callable(part) for name, part in BY_NAME.items())


@pytest.mark.parametrize(
    ("measured", "target", "verdict"),
    [
        (1.35, at_most(1.35), "met"),
        (1.36, at_most(1.35), "missed"),
        (55.0, at_least(55), "met"),
        (54.9, at_least(55), "missed"),
        (nan, at_most(1.0), "missed"),
        (nan, at_least(1.0), "missed"),
        (3.0, None, ""),
    ],
)
def test_a_missed_target_is_called_missed(measured: float, target: Target | None, verdict: str) -> None:
    line = Line("first paint", measured, target, "median of 9")
    assert line.verdict == verdict
    assert ("missed" in str(line)) == (verdict == "missed")
    assert str(line).startswith("first paint")
    assert str(line).endswith("median of 9")


def test_both_crowds_are_the_same_cells_in_the_same_places() -> None:
    cells, steps = 30, 3
    film, plot = crowd(cells, steps), figure(cells)
    assert isinstance(film, Movie)
    assert len(film.to_dict()["steps"]) == steps
    assert [len(step.beats[0]) for step in film.steps[1:]] == [cells] * (steps - 1)
    assert [scatter.text for scatter in plot.data] == [tuple(cell.text for cell in film.cells)]
    assert len(set(plot.data[0].ids)) == cells
    here, there = (list(zip(frame.data[0].x, frame.data[0].y, strict=True)) for frame in plot.frames)
    assert here == [(round(cell.place.x / cell.w), cell.place.y) for cell in film.cells]
    assert there == here[::-1]


def test_a_motion_counts_the_frames_from_the_press_to_the_last() -> None:
    assert Motion((20.0, 40.0, 60.0, 80.0, 100.0)).rate == 50.0


def test_the_memory_of_a_trace_counts_each_tensor_once() -> None:
    traced = trace(Batch.parse("1 2 3\n4 5\n6"))
    once = (traced.output, traced.packed.data, traced.padded.values)  # the output is the top layer's h, too
    assert sum(part.nbytes for part in once) < bytes_of(traced) < 2000
