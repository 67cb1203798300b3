"""A third kind of run: an entry in the registry is all that movies, pictures, pages and questions need of it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from packviz import Batch, movie
from packviz.errors import PackvizError
from packviz.predictions import ask, asking
from packviz.show.movie import kinds
from packviz.show.movie.about import About
from packviz.show.movie.layout import Margins, Place, Scene, panel
from packviz.show.movie.marks import CodeLine, Step, frame, marks
from packviz.show.movie.possible import possible_movie


@dataclass(frozen=True)
class Lengths:
    """The record of a kind of run that only counts tokens."""

    batch: Batch


def count(run: Lengths) -> Iterator[Step]:
    lengths = run.batch.lengths.numpy()
    row = np.arange(len(lengths))
    cells = marks("length", "note", Place("counts", 0.0, row), row, text=lengths.astype(str).astype(object))
    yield Step("These are the lengths.", (frame(cells),), name="counted")


def count_scene(run: Lengths) -> Scene:
    return Scene([panel("counts", 4.0, float(len(run.batch.lengths)), Margins(0.1, 0.1, 0.1, 0.1))])


def about(run: Lengths) -> About:
    return About(
        run=run,
        title="lengths",
        layer=0,
        direction=0,
        sequences=len(run.batch.lengths),
        tokens={"b": [], "t": [], "n": [], "offsets": []},
        numbers=[],
        scales={"input": 1.0, "state": 1.0},
        notes=(),
        proof="",
        exact=True,
        stack={},
    )


THIRD = kinds.MovieKind(
    records=(Lengths,),
    makers=("Lengths",),
    stages=(kinds.StageEntry("count", "count", count, count_scene),),
    view=lambda run, _: run,
    opening=lambda _: {},
    program=lambda _: {"count": CodeLine("lengths = [len(each) for each in sequences]")},
    about=about,
    still="count",
)
RUN = Lengths(Batch.parse("1 2 3\n4 5"))


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "MOVIE_KINDS", (*kinds.MOVIE_KINDS, THIRD))


def test_it_has_a_movie_a_page_and_a_picture() -> None:
    shown = movie(RUN)
    seen = shown.frame(1)
    assert (seen["stage"], seen["caption"], seen["code"].text) == (
        "count",
        "These are the lengths.",
        "lengths = [len(each) for each in sequences]",
    )
    assert [mark["text"] for mark in seen["marks"].values()] == ["3", "2"]
    assert "<title>lengths" in shown.to_html()
    assert ">3</text>" in shown.to_svg()
    assert shown.step_at("count", name="counted") == 1


def test_what_is_no_run_is_told_of_every_kind() -> None:
    with pytest.raises(PackvizError, match=r"a Trace, a RowsTrace or a Lengths.* packviz.trace_rows or Lengths"):
        movie(3)


def test_without_questions_it_asks_nothing() -> None:
    shown = possible_movie(RUN, ("count",))  # type: ignore[arg-type]
    assert asking(shown, "count").questions == ()
    assert ask(RUN, "count") is None
