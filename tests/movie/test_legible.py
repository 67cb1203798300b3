"""In full screen everything is to be read from the last row: the heights of what is written, over all steps."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from movie_player import Screen
from playwright.sync_api import Browser
from tabs import Tab

import packviz as pv
from packviz import Batch, Config, Movie

LISTEN = """
    const write = CanvasRenderingContext2D.prototype.fillText;
    window.written = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const [, weight, px] = this.font.match(/^(?:(bold|\\d+) )?([0-9.]+)px/);
        window.written.push([text, Number(px), weight === "bold" ? 700 : Number(weight ?? 400)]);
        return write.call(this, text, x, y);
    };
    delete Element.prototype.requestFullscreen; // the player fills the window
"""
CAPTION = "node => parseFloat(getComputedStyle(node).fontSize)"
PROJECTORS = [(1280, 720), (1920, 1080), (3840, 2160)]
ADDRESS = 400  # the weight in which names of rows and columns are written, and nothing in a cell of the packed rows
Written = tuple[str, float, int]
Measure = Callable[[Movie, tuple[int, int]], list[tuple[int, float, list[Written]]]]


@pytest.fixture
def measure(browser: Browser, tmp_path: Path) -> Iterator[Measure]:
    """Return of every step in full screen its number, the height of its caption, and all that is written, in pixels."""
    tab = browser.new_context(reduced_motion="reduce").new_page()
    tab.add_init_script(LISTEN)
    screen = Screen(Tab(tab), motion=False)

    def measure_(movie: Movie, size: tuple[int, int]) -> list[tuple[int, float, list[Written]]]:
        tab.set_viewport_size({"width": size[0], "height": size[1]})
        screen.open(movie.save_html(tmp_path / "movie.html").as_uri())
        screen.press("f")
        screen.rest()
        told = []
        for step in range(2, len(movie.steps) + 1):
            tab.evaluate("() => { window.written.length = 0; }")
            screen.press("ArrowRight")
            assert screen.step == step
            caption = tab.get_by_test_id("packviz-caption").evaluate(CAPTION)
            told.append((step, caption, tab.evaluate("() => window.written")))
        return told

    yield measure_
    tab.context.close()


@cache
def movie_of(name: str) -> Movie:
    ragged, full = "1 2 3 4 5 6\n7 8\n9 1 2 3\n4 5 6", "1 2 3 4 5 6\n7 8 9 1 2 3\n9 1 2 3 4 5\n4 5 6 7 8 9"
    _, _, how = name.partition("-")
    config = Config(cell="lstm") if name.startswith("lstm") else Config(cell="gru")
    trace = pv.trace(Batch.parse(full if how == "full" else ragged), config)
    return pv.movie(trace, ("run",), deep=True) if how == "lesson" else pv.movie(trace)


def number(text: str) -> bool:
    return re.fullmatch(r"[−-]?\d*\.?\d+", text) is not None


@pytest.mark.parametrize("size", PROJECTORS, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", ["gru", "gru-full", "lstm-full", "lstm-lesson"])
def test_captions_have_a_28th_and_numbers_in_cells_a_33rd_of_the_height(
    measure: Measure, name: str, size: tuple[int, int]
) -> None:
    numbers = 0
    for step, caption, written in measure(movie_of(name), size):
        assert caption >= 0.035 * size[1]
        small = [each for each in written if number(each[0]) and each[2] != ADDRESS and each[1] < 0.03 * size[1] - 0.01]
        assert small == [], step
        numbers += sum(number(text) and weight != ADDRESS for text, _, weight in written)
    assert numbers > 100
