"""A movie's page, opened from its file in the browser."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from movie_player import Screen
from playwright.sync_api import Browser

from packviz import Movie

Open = Callable[..., Screen]


@pytest.fixture(autouse=True, scope="module")
def always_one_thread(one_thread: None) -> None:
    """Run every test of this folder in one thread."""


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a movie's page from its file; at the end, hold that it made no noise and asked nobody for anything."""
    screens: list[Screen] = []

    def open_(
        movie: Movie, at: str = "", *, motion: bool = False, size: tuple[int, int] = (1280, 720), **context: object
    ) -> Screen:
        path = movie.save_html(tmp_path / f"{len(screens)}.html")
        viewport = {"width": size[0], "height": size[1]}
        reduced = "no-preference" if motion else "reduce"
        tab = browser.new_context(viewport=viewport, reduced_motion=reduced, **context)
        screens.append(Screen(tab.new_page(), motion=motion))
        screens[-1].open(path.as_uri() + at)
        return screens[-1]

    yield open_
    for screen in screens:
        screen.page.context.close()
        assert screen.noise == []
        assert {address for address in screen.requests if not address.startswith("blob:")} == {screen.address}
