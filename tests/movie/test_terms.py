"""What a term means is said to a finger; that it is said to the mouse and the keyboard, test_lessons.py holds."""

from movie_player import Open
from playwright.sync_api import expect

import packviz as pv
from packviz import Batch


def test_a_finger_that_taps_a_term_is_told_and_a_tap_elsewhere_ends_it(open_page: Open) -> None:
    movie = pv.movie(pv.trace(Batch.parse("1 2 3\n4 5\n6 7 8 9")))
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
