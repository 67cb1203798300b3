"""A movie's page, opened from its file in the browser."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from movie_player import Open, Screen
from playwright.sync_api import Browser
from tabs import Size, tab

import packviz as pv
from packviz import Batch, Movie


@pytest.fixture(scope="session")
def movie() -> Movie:
    return pv.movie(pv.trace(Batch.parse("1 2 3\n4 5\n6 7 8 9")))


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a movie's page from its file; at the end, hold that it made no noise and asked nobody for anything."""
    screens: list[Screen] = []
    with ExitStack() as tabs:

        def open_(
            movie: Movie, at: str = "", *, motion: bool = False, size: Size = (1280, 720), **options: Any
        ) -> Screen:
            path = movie.save(tmp_path / f"{len(screens)}.html")
            screens.append(Screen(tabs.enter_context(tab(browser, size, motion=motion, **options)), motion=motion))
            screens[-1].open(path.as_uri() + at)
            return screens[-1]

        yield open_
        for screen in screens:
            screen.check()


@pytest.fixture
def screen(open_page: Open, movie: Movie) -> Screen:
    """Open the short movie on its first step."""
    return open_page(movie)
