"""The first visit: a movie, paused on its first step, with an invitation; no errors, no requests to other hosts."""

from functools import partial

import pytest
from playwright.sync_api import Browser, Locator, expect
from tabs import box_of, until
from visits import LAPTOP, PHONE, PROJECTOR, Open


@pytest.mark.check
def test_the_first_page_is_a_paused_movie_with_few_words_and_links_to_the_next_page(visit: Open, address: str) -> None:
    seen = visit(None, size=LAPTOP)
    assert 20 < len(seen.words) <= 60, " ".join(seen.words)
    expect(seen.page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
    for alt in ("2 pads move B's 4 hidden values", "They stay fixed once B ends"):
        picture = seen.main.get_by_alt_text(alt)
        until(seen.page, partial(picture.evaluate, "image => image.naturalWidth"))
    assert has_its_height(seen.main.locator(".why"))
    seen.page.set_viewport_size({"width": PROJECTOR[0], "height": PROJECTOR[1]})
    seen.page.wait_for_timeout(700)
    assert seen.data("step") == "1"
    assert seen.page.url == f"{address}/"
    expect(seen.player.get_by_text("Press")).to_be_visible()
    expect(seen.player).to_be_in_viewport(ratio=1)
    assert box_of(seen.player)["width"] > 0.6 * PROJECTOR[0]
    steps = int(seen.data("steps"))
    for key, step in (("ArrowRight", steps), ("ArrowLeft", 1)):
        seen.press(*[key] * (steps + 2))
        assert seen.data("step") == str(step)
        expect(seen.main.get_by_text("All numbers of this stage")).to_be_visible()
    seen.press("End")
    seen.player.get_by_role("button", name="First lesson: why pad?").click()
    seen.page.wait_for_url(f"{address}/padding")
    seen.settle()
    seen.press("End")
    seen.player.get_by_role("button", name="Next: why sort?").click()
    seen.page.wait_for_url(f"{address}/sorting")


def has_its_height(why: Locator) -> bool:
    """Return whether the place of the two pictures was as high before they came; this removes them."""
    expect(why.locator("figure")).to_have_count(2)
    with_pictures = why.evaluate("place => place.offsetHeight")
    without = why.evaluate("place => { place.replaceChildren(); return place.offsetHeight; }")
    return bool(0 <= without - with_pictures < 8)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("CanvasRenderingContext2D.prototype.roundRect = undefined", "This step could not be drawn: "),
        ("delete Element.prototype.replaceChildren", "The picture could not be shown: "),
    ],
    ids=["no drawing", "no player at all"],
)
def test_a_picture_that_fails_says_why_and_the_page_goes_on(
    browser: Browser, address: str, broken: str, told: str
) -> None:
    page = browser.new_page(viewport={"width": PROJECTOR[0], "height": PROJECTOR[1]})
    page.add_init_script(broken)
    page.goto(f"{address}/packing")
    expect(page.locator(".pv").get_by_role("alert")).to_contain_text(told, timeout=30_000)
    expect(page.get_by_role("button", name="all equal")).to_be_visible(timeout=30_000)
    page.close()


def test_on_a_phone_the_pictures_cause_no_layout_shift_and_the_sequences_are_one_tap_away(visit: Open) -> None:
    seen = visit(None, size=PHONE)
    assert has_its_height(seen.main.locator(".why"))
    expect(seen.text).not_to_be_in_viewport()
    seen.page.get_by_test_id("stExpandSidebarButton").click()
    expect(seen.text).to_be_in_viewport()
    seen.type("7 8\n9")
    expect(seen.sidebar.get_by_text("2 sequences, 3 tokens, 25 % padding")).to_be_visible()
