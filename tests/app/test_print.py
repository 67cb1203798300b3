"""On paper a lesson is a handout: what is read and nothing that is clicked, with the picture drawn for the sheet."""

from playwright.sync_api import Browser, expect
from visits import PROJECTOR, visit

SHEET = 720  # pixels across A4 within its margins, and a little


def test_a_lesson_is_printed_as_a_handout_and_the_screen_is_as_before(browser: Browser, address: str) -> None:
    with visit(browser, address, {"step": 4}, path="packing", scheme="dark") as visited:
        page, canvas = visited.page, visited.player.locator("canvas")
        before = canvas.evaluate("canvas => [canvas.width, canvas.clientWidth]")
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        visited.settle()
        width, shown = canvas.evaluate("canvas => [canvas.width, canvas.clientWidth]")
        assert 500 < shown <= SHEET
        assert width >= shown  # drawn anew, not squeezed
        assert visited.data("theme") == "light"
        for gone in ("stHeader", "stSidebar"):
            expect(page.get_by_test_id(gone)).to_be_hidden()
        for gone in ("Share", "Check", "Play"):
            expect(page.get_by_role("button", name=gone)).to_have_count(0)
        expect(visited.player.locator(".pv-caption")).to_be_visible()
        main = visited.main.bounding_box()
        assert main is not None
        assert main["height"] > PROJECTOR[1]  # all of it stands on the sheets: nothing is left to scroll within
        assert page.evaluate("document.documentElement.scrollHeight") >= main["height"]
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen", color_scheme="dark")
        visited.settle()
        assert canvas.evaluate("canvas => [canvas.width, canvas.clientWidth]") == before
        assert visited.data("theme") == "dark"
