"""The first visit: the movie first, paused on its first step, with an invitation; no error, no other host."""

import pytest
from playwright.sync_api import Browser, expect
from visits import LAPTOP, PHONE, PROJECTOR, follow, visit

from bench import servers
from pages import STAGES


@pytest.mark.check
def test_the_movie_is_there_without_scrolling_and_waits(browser: Browser, address: str) -> None:
    with visit(browser, address, None, size=PROJECTOR) as seen:
        box = seen.player.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= PROJECTOR[1]
        assert box["width"] > 0.6 * PROJECTOR[0]
        assert seen.data("step") == "1"
        seen.page.wait_for_timeout(700)
        assert seen.data("step") == "1"
        expect(seen.player.get_by_text("Press")).to_be_visible()
        assert seen.page.url == f"{address}/"


WORDS = """() => {
  const words = [];
  const apart = "style, script, option, .pv-code, [data-testid=stIconMaterial], a[href^='#']";
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const range = document.createRange();
      range.selectNodeContents(node);
      const { top, bottom, left, right, width } = range.getBoundingClientRect();
      const seen = width > 2 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
      if (seen) words.push(...(node.textContent.match(/[\\p{L}_]+/gu) ?? []));
    } else if (!node.matches?.(apart)) {
      for (const child of [...node.childNodes, ...(node.shadowRoot?.childNodes ?? [])]) walk(child);
    }
  };
  walk(document.body);
  return words;
}"""  # that are to be read on the first screen, but for the code


@pytest.mark.parametrize(("path", "most"), [("", 60), *((lesson, 110) for lesson in STAGES)])
def test_the_first_screen_is_a_picture_and_a_few_words(browser: Browser, address: str, path: str, most: int) -> None:
    with visit(browser, address, None, path=path, size=LAPTOP) as seen:
        words = seen.page.evaluate(WORDS)
        assert 20 < len(words) <= most, " ".join(words)
        expect(seen.page.get_by_test_id("stSidebar")).not_to_be_in_viewport()


def test_space_plays_the_movie_of_a_page_that_was_chosen_in_the_menu(browser: Browser, address: str) -> None:
    with visit(browser, address) as seen:
        follow(seen.page, "Sorting")
        seen.page.wait_for_url("**/sorting*")
        seen.settle()
        seen.page.keyboard.press("Space")
        expect(seen.player.get_by_role("button", name="Pause (Space)")).to_be_visible()


def test_the_first_page_says_what_packing_is_for_and_leads_on(browser: Browser, address: str) -> None:
    with visit(browser, address, None) as seen:
        for alt in ("B has ended, but reads 2 pads", "The state of B rests."):
            picture = seen.main.get_by_alt_text(alt)
            assert picture.evaluate("image => image.naturalWidth") > 0
        seen.press("End")
        seen.player.get_by_role("button", name="Start: why pad?").click()
        seen.page.wait_for_url(f"{address}/padding")
        seen.settle()
        seen.press("End")
        seen.player.get_by_role("button", name="Next: why sort?").click()
        seen.page.wait_for_url(f"{address}/sorting")


@pytest.mark.parametrize("size", [LAPTOP, PROJECTOR, PHONE])
def test_the_two_pictures_come_after_the_movie_into_a_place_of_their_height(
    browser: Browser, address: str, size: tuple[int, int]
) -> None:
    with visit(browser, address, None, size=size) as seen:
        place = seen.main.locator(".why")
        expect(place.locator("figure")).to_have_count(2)
        with_pictures = place.evaluate("place => place.offsetHeight")
        without = place.evaluate("place => { place.replaceChildren(); return place.offsetHeight; }")
        assert 0 <= without - with_pictures < 8


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("CanvasRenderingContext2D.prototype.roundRect = undefined", "This step could not be drawn: "),
        ("delete Element.prototype.replaceChildren", "The picture could not be shown: "),
    ],
    ids=["no drawing", "no player at all"],
)
def test_a_picture_that_fails_says_why_and_the_rest_of_the_page_comes(
    browser: Browser, address: str, broken: str, told: str
) -> None:
    page = browser.new_page(viewport={"width": PROJECTOR[0], "height": PROJECTOR[1]})
    page.add_init_script(broken)
    page.goto(f"{address}/packing")
    expect(page.locator(".pv").get_by_role("alert")).to_contain_text(told, timeout=30_000)
    expect(page.get_by_role("button", name="all equal")).to_be_visible(timeout=30_000)
    page.close()


@pytest.mark.check
def test_keys_go_to_the_end_and_back(browser: Browser, address: str) -> None:
    with visit(browser, address) as seen:
        steps = int(seen.data("steps"))
        seen.press(*["ArrowRight"] * (steps + 2))
        assert seen.data("step") == str(steps)
        assert seen.data("stage") == "unpack"
        expect(seen.main.get_by_text("All numbers of this stage")).to_be_visible()
        seen.press(*["ArrowLeft"] * (steps + 2))
        assert seen.data("step") == "1"
        expect(seen.main.get_by_text("All numbers of this stage")).to_be_visible()


def test_any_page_may_be_the_first_one_of_a_new_process(browser: Browser) -> None:
    with servers.packviz() as address, visit(browser, address, "cell=lstm&step=4", path="overview") as seen:
        assert seen.data("step") == "4"
        box = seen.player.bounding_box()
        assert box is not None
        assert box["width"] > 0.6 * PROJECTOR[0]  # app.py has run: the page is wide
        assert seen.page.get_by_test_id("stSidebarNav").count() == 0
        seen.errors[:] = [error for error in seen.errors if "404" not in error]  # Streamlit asks where its server is


def test_on_a_phone_the_sequences_are_one_tap_away(browser: Browser, address: str) -> None:
    with visit(browser, address, size=PHONE) as seen:
        expect(seen.text).not_to_be_in_viewport()
        seen.page.get_by_test_id("stExpandSidebarButton").click()
        expect(seen.text).to_be_in_viewport()
        seen.type("7 8\n9")
        expect(seen.sidebar.get_by_text("2 sequences, 3 tokens, 25 % padding")).to_be_visible()
