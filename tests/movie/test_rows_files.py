"""A run over rows as a picture in a notebook and as files: every stage that there is, in every format."""

import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image

import packviz as pv
from packviz.show.movie.kinds import ROWS_MOVIE
from ui.state import kinds
from ui.state.runs import Request, run
from ui.state.text import OWN, Source

TEXT = "on your mark\nget set\ngo"
STAGES = [("lstm" if stage.name == "run" else "attention", stage.name) for stage in ROWS_MOVIE.stages]
WITHOUT_FLEX = f"""
import sys, packviz
run = packviz.trace_rows(packviz.Batch.parse({TEXT!r}))
packviz.movie(run).to_dict()
print("torch.nn.attention.flex_attention" in sys.modules)
"""


def typed(layer: Any = "attention") -> pv.RowsTrace:
    return pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(layer=layer, max_length=5))


@pytest.mark.parametrize(("layer", "stage"), STAGES)
def test_every_stage_is_saved_as_a_page_and_as_pictures(layer: str, stage: str, tmp_path: Path) -> None:
    run = typed(layer)
    movie = pv.movie(run, (stage,), deep=True)
    (svg,) = [ElementTree.fromstring(movie.to_svg(theme="dark"))]
    texts = [each.text for each in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert any(word in str(text) for text in texts for word in movie.steps[-1].caption.replace("*", "").split()[:1])
    with Image.open(movie.save(tmp_path / "last.png")) as picture:
        assert picture.size[0] == 960
        assert len(picture.convert("RGB").getcolors(1 << 20) or ()) > 20
    assert movie.save(tmp_path / "movie.html").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("layer", ["attention", "lstm", "conv"])
def test_every_mark_of_a_sequence_has_one_that_there_is(layer: str) -> None:
    data = pv.movie(typed(layer), deep=True).to_dict()
    found = [group["seq"] for group in data["groups"] if "seq" in group]
    numbers = {seq for each in found for seq in (each if isinstance(each, list) else [each])}
    assert numbers == {0, 1, 2}


def test_a_film_has_a_picture_for_each_frame_of_every_stage(tmp_path: Path) -> None:
    movie = pv.movie(typed())
    with Image.open(movie.save(tmp_path / "film.gif", width=320, height=200)) as film:
        assert getattr(film, "n_frames", 1) > len(movie.steps)


@pytest.mark.parametrize("stage", ["fill", "attention", "run"])
def test_the_app_saves_the_film_of_a_lesson_on_rows(stage: str, tmp_path: Path) -> None:
    shown = run(Request(Source(OWN, TEXT), (("max_length", 5),), stages=(stage,), kind=kinds.ROWS, head=1))
    film = shown.film
    there = "attention" if stage == "run" else stage  # attention has no stage run
    assert {step.stage for step in film.steps} == {there}
    with Image.open(film.save(tmp_path / "film.gif", width=320, height=200)) as saved:
        assert getattr(saved, "n_frames", 1) > 1


def test_a_notebook_shows_rows_as_a_picture() -> None:
    assert "data:image/svg+xml" in str(typed()._repr_html_())


def test_no_picture_waits_for_flex_attention() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_FLEX], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
