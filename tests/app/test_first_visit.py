"""The first visit: a movie, paused on its first step, with an invitation; no errors, no requests to other hosts."""

import re

import pytest
from playwright.sync_api import Browser, Locator, expect
from tabs import Scheme, Size, box_of, until
from visits import LAPTOP, PHONE, PROJECTOR, Open

from packviz.show.movie import TERMS
from ui.parts.controls import LABEL


@pytest.mark.check
def test_the_first_page_is_a_paused_movie_with_few_words(visit: Open, address: str) -> None:
    seen = visit(None, size=LAPTOP)
    until(
        seen.page, lambda: len(seen.words) <= 45
    )  # on a busy machine what is below the player comes before its full height
    assert len(seen.words) > 20, " ".join(seen.words)
    expect(seen.page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
    expect(seen.main.locator(".st-key-why")).to_contain_text("BFinal state alone:")
    assert has_its_height(seen.main.locator(".st-key-why"))
    seen.page.set_viewport_size({"width": PROJECTOR[0], "height": PROJECTOR[1]})
    seen.page.wait_for_timeout(700)
    assert seen.data("step") == "1"
    assert seen.page.url == f"{address}/"
    assert seen.player.get_by_role("button").filter(has_text=re.compile("Play|Watch")).count() == 1
    expect(seen.player).to_be_in_viewport(ratio=1)
    assert box_of(seen.player)["width"] > 0.6 * PROJECTOR[0]
    steps = int(seen.data("steps"))
    for key, step in (("ArrowRight", steps), ("ArrowLeft", 1)):
        seen.press(*[key] * (steps + 2))
        assert seen.data("step") == str(step)
        expect(seen.main.get_by_text("All numbers of this stage")).to_be_visible()
    seen.press("End")
    expect(seen.player.get_by_role("button", name="Do I need packing?")).to_be_visible()
    seen.player.get_by_role("button", name="First lesson: why pad?").click()
    seen.page.wait_for_url(f"{address}/padding")
    seen.settle()
    seen.press("End")
    seen.player.get_by_role("button", name="Next: why sort?").click()
    seen.page.wait_for_url(f"{address}/sorting")


SHADE = "node => getComputedStyle(node).color"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_wrong_state_looks_wrong_and_terms_say_what_they_mean(visit: Open, scheme: Scheme) -> None:
    seen = visit(None, scheme=scheme)
    why = seen.main.locator(".st-key-why")
    alone, padded, packed = why.locator("code").all()
    shades = [state.evaluate(SHADE) for state in (alone, padded, packed)]
    assert len(set(shades)) == 3
    assert [why.locator("strong", has_text=way).evaluate(SHADE) for way in ("Padded", "Packing")] == shades[1:]
    assert len({box_of(state)["x"] for state in (alone, padded, packed)}) == 1  # the numbers stand below one another
    meaning = seen.page.get_by_role("tooltip")
    for term in ("RNN", "final state"):
        why.locator("[data-term]", has_text=term).hover()  # once it is marked as a term
        expect(meaning).to_have_text(TERMS[term])


def has_its_height(why: Locator) -> bool:
    """Return whether the place of the sentence was as high before it came; this removes it."""
    expect(why.get_by_test_id("stMarkdown")).to_have_count(3)
    with_words = why.evaluate("place => place.offsetHeight")
    without = why.evaluate("place => { place.replaceChildren(); return place.offsetHeight; }")
    return bool(0 <= without - with_words < 8)


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
    expect(page.get_by_role("button", name="equal lengths")).to_be_visible(timeout=30_000)
    page.close()


@pytest.mark.parametrize("size", [LAPTOP, PROJECTOR, PHONE], ids=["laptop", "projector", "phone"])
def test_a_changed_word_changes_the_movie_and_the_sentence(visit: Open, size: Size) -> None:
    seen = visit(None, size=size)
    text = seen.page.get_by_label(LABEL)  # without opening anything
    for there in (text, seen.player.locator(".pv-stage"), seen.player.get_by_role("button", name="Play")):
        expect(there).to_be_in_viewport(ratio=1)
    text.press("Control+End")
    text.press_sequentially("\nyes")
    expect(seen.player).to_have_attribute("aria-label", re.compile("4 sequences"))
    expect(seen.main.locator(".st-key-why")).to_contain_text("DFinal state alone:")
    expect(text).to_be_focused()


def test_on_a_phone_the_sentence_causes_no_layout_shift(visit: Open) -> None:
    seen = visit(None, size=PHONE)
    assert has_its_height(seen.main.locator(".st-key-why"))


HEIGHTS = """
    window.heights = new Set();
    const look = () => {
        const share = document.querySelector(".st-key-share button");
        if (share) window.heights.add(share.getBoundingClientRect().top);
        requestAnimationFrame(look);
    };
    look();
"""  # where Share is in each frame


@pytest.mark.parametrize("page", ["quiz", "class", "packing"])
def test_share_does_not_move_while_a_page_loads(visit: Open, page: str) -> None:
    seen = visit(path=page, script=HEIGHTS)
    assert len(seen.page.evaluate("[...window.heights]")) == 1


def test_the_headings_of_all_pages_begin_at_one_height(visit: Open) -> None:
    tops = [box_of(visit(path=page).main.locator("h1"))["y"] for page in ("quiz", "class", "doctor", "do_i_need_it")]
    assert len(set(tops)) == 1


@pytest.mark.parametrize("page", ["cost", "quiz"])
def test_on_a_phone_buttons_and_fields_are_44_pixels_high(visit: Open, page: str) -> None:
    main = visit(path=page, size=PHONE, has_touch=True, is_mobile=True).main
    fields = main.locator(":is(button, input[type=text]):visible:not([aria-label^='Help'])").all()
    assert len(fields) > 4
    assert min(box_of(each)["height"] for each in fields) >= 44
