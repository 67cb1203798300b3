"""What a term means is said to the mouse, to a finger and to the keyboard."""

import pytest
from movie_player import Open
from playwright.sync_api import expect

import packviz as pv
from packviz import Batch, Movie


@pytest.fixture(scope="module")
def movie() -> Movie:
    return pv.movie(pv.trace(Batch.parse("1 2 3\n4 5\n6 7 8 9")))


def test_a_finger_that_taps_a_term_is_told_and_a_tap_elsewhere_ends_it(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, "#step=6", size=(390, 844), has_touch=True, is_mobile=True)
    term, meaning = screen.root.locator(".pv-caption abbr").first, screen.root.get_by_role("tooltip")
    expect(meaning).to_be_hidden()
    term.tap()
    expect(meaning).to_be_visible()
    expect(meaning).to_contain_text("how many sequences are live")
    box = meaning.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    screen.root.locator("canvas").tap()
    expect(meaning).to_be_hidden()


def test_the_keyboard_comes_to_a_term_and_is_told(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, "#step=6")
    term, meaning = screen.root.locator(".pv-caption abbr").first, screen.root.get_by_role("tooltip")
    for _ in range(40):
        screen.press("Tab")
        if term.evaluate("node => node === document.activeElement"):
            break
    expect(meaning).to_be_visible()
    described = term.get_attribute("aria-describedby")
    assert described == meaning.get_attribute("id")
    screen.press("Escape")
    expect(meaning).to_be_hidden()
    assert screen.step == 6
    screen.press("ArrowRight")
    assert screen.step == 7
    screen.press("ArrowRight")
    assert screen.step == 8
