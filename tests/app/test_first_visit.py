"""The first visit: the movie first, paused on its first step, with an invitation; no error, no other host."""

import pytest
from playwright.sync_api import Browser, expect
from visits import LAPTOP, PHONE, PROJECTOR, visit


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [LAPTOP, PROJECTOR, PHONE])
def test_nothing_goes_wrong_and_no_other_host_is_asked(
    browser: Browser, address: str, size: tuple[int, int], scheme: str
) -> None:
    with visit(browser, address, size=size, color_scheme=scheme) as seen:
        seen.press("ArrowRight", "ArrowRight")
        expect(seen.main.get_by_text("The same run in plain PyTorch")).to_be_visible()
        assert seen.errors == []
        assert seen.hosts <= {"localhost", "", None}
        assert seen.data("theme") == scheme
        assert seen.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_the_movie_is_there_without_scrolling_and_waits(browser: Browser, address: str) -> None:
    with visit(browser, address, size=PROJECTOR) as seen:
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


def test_the_default_batch_says_what_it_is(browser: Browser, address: str) -> None:
    with visit(browser, address) as seen:
        expect(seen.text).to_have_value("1 2 3\n4 5\n6 7 8 9")
        expect(seen.sidebar.get_by_text("3 sequences, 9 tokens, 25 % padding")).to_be_visible()


def test_keys_go_to_the_end_and_back(browser: Browser, address: str) -> None:
    with visit(browser, address) as seen:
        steps = int(seen.data("steps"))
        seen.press(*["ArrowRight"] * (steps + 2))
        assert seen.data("step") == str(steps)
        assert seen.data("stage") == "unpack"
        expect(seen.main.get_by_text("Records of the stage unpack")).to_be_visible()
        seen.press(*["ArrowLeft"] * (steps + 2))
        assert seen.data("step") == "1"
        expect(seen.main.get_by_text("Records of the stage pad")).to_be_visible()
        assert seen.errors == []


def test_what_stands_under_the_movie(browser: Browser, address: str) -> None:
    with visit(browser, address) as seen:
        expect(seen.main.get_by_text("equal to torch.nn.GRU, bit for bit").last).to_be_visible()
        fields = seen.main.get_by_test_id("stCode").first
        expect(fields).to_contain_text("packed.batch_sizes")
        expect(fields).to_contain_text("tensor([3, 3, 2, 1])")
        expect(seen.main.get_by_test_id("stCode").last).to_contain_text("gru = nn.GRU(1, 4, batch_first=True)")


@pytest.mark.parametrize("path", ["", "overview"])
def test_any_page_may_be_the_first_one_of_a_new_process(browser: Browser, new_address: str, path: str) -> None:
    with visit(browser, new_address, "cell=lstm&step=4", path=path) as seen:
        assert seen.data("step") == "4"
        box = seen.player.bounding_box()
        assert box is not None
        assert box["width"] > 0.6 * PROJECTOR[0]  # app.py has run: the page is wide
        assert seen.page.get_by_test_id("stSidebarNav").count() == 0
        assert [error for error in seen.errors if "404" not in error] == []  # Streamlit asks where its server is


def test_on_a_phone_the_sequences_are_one_tap_away(browser: Browser, address: str) -> None:
    with visit(browser, address, size=PHONE) as seen:
        expect(seen.text).not_to_be_in_viewport()
        seen.page.get_by_test_id("stExpandSidebarButton").click()
        expect(seen.text).to_be_in_viewport()
        seen.type("7 8\n9")
        expect(seen.sidebar.get_by_text("2 sequences, 3 tokens, 25 % padding")).to_be_visible()
