"""The share panel: a link to what is on the screen, in a QR code, in a frame and as a file; and what a link hides."""

import re
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

import pytest
from playwright.sync_api import Browser, expect
from test_qr import decoded
from visits import PHONE, Visit, visit

from pages import movies, opened, texts
from ui.address import PARTS
from ui.share import frame, link

HERE = "https://class.example/base/packing?cell=lstm&sequences=on+your+mark%0Aget+set&step=3"


def query(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))


def test_a_link_is_the_address_with_what_was_chosen() -> None:
    assert link(HERE) == HERE
    assert query(link(HERE, step=False)) == {name: value for name, value in query(HERE).items() if name != "step"}
    assert query(link(HERE, hidden=["menu", "code"], theme="dark")) == query(HERE) | {
        "hide": "menu,code",
        "theme": "dark",
    }


def test_what_the_address_hides_is_not_shared_unless_it_is_chosen() -> None:
    hidden = f"{HERE}&hide=menu&theme=dark&embed=true&embed_options=dark_theme#top"
    assert link(hidden) == HERE
    assert query(link(hidden, hidden=["sidebar"]))["hide"] == "sidebar"


def test_a_frame_holds_the_link_and_nothing_in_it_ends_its_attribute() -> None:
    told = frame('https://class.example/?sequences="><script>')
    assert re.findall("[<>]", told) == ["<", ">", "<", ">"]
    source = re.findall('src="([^"]*)"', frame(link(HERE)))[0].replace("&amp;", "&")
    assert query(source) == query(HERE) | {"embed": "true"}
    assert frame("https://class.example/").count("?embed=true") == 1


@pytest.mark.parametrize("page", ["start", "packing", "compare", "cost", "questions", "doctor", "quiz"])
def test_every_page_has_the_panel(page: str) -> None:
    app = opened(page)
    assert [each.proto.popover.label for each in app.get("popover")] == ["Share"]
    assert "share hide" not in {getattr(each, "key", None) for each in app.main}  # nothing before it is opened


@pytest.mark.parametrize("page", ["packing", "cost", "quiz"])
def test_what_a_link_cannot_hide_is_named(page: str) -> None:
    told = "hide = 'menu,walls' (it is 'menu'), theme = 'pink' (it is 'automatic')"
    assert f"Ignored from the link: {told}." in texts(opened(page, {"hide": "menu,walls", "theme": "pink"}))
    assert "Ignored" not in texts(opened(page, {"hide": ",".join(PARTS), "theme": "dark"}))


def test_a_link_without_code_is_told_to_the_player() -> None:
    assert '"code": false' in movies(opened("packing", {"hide": "code"}))[0]
    assert '"code": true' in movies(opened("packing", {"hide": "menu"}))[0]


def open_panel(visited: Visit) -> None:
    visited.main.get_by_role("button", name="Share").click()
    visited.page.get_by_role("img", name="QR code of the link").wait_for()
    visited.settle()


def shared(visited: Visit) -> str:
    return visited.page.get_by_label("Link to this page").input_value()


def scanned(visited: Visit) -> str:
    """Return what the QR code in the panel says."""
    source = visited.page.get_by_role("img", name="QR code of the link").get_attribute("src") or ""
    image = unquote(source.partition(",")[2])
    size = int(re.findall(r'viewBox="0 0 (\d+)', image)[0]) - 8
    rows = [["0"] * size for _ in range(size)]
    for x, y, wide in re.findall(r"M(\d+) (\d+)h(\d+)", image):
        rows[int(y) - 4][int(x) - 4 : int(x) - 4 + int(wide)] = "1" * int(wide)
    return decoded(["".join(row) for row in rows])


def test_the_panel_shares_the_step_on_screen_and_what_was_chosen(browser: Browser, address: str) -> None:
    with visit(browser, address, {"cell": "lstm"}, path="packing") as visited:
        visited.press("ArrowRight", "ArrowRight")
        open_panel(visited)
        assert shared(visited) == visited.page.url == scanned(visited)
        assert query(shared(visited))["step"] == "3"
        panel = visited.page.locator(".st-key-sharing")
        for choice in ("sidebar", "code", "menu", "dark"):
            panel.get_by_role("radio", name=choice).or_(panel.get_by_role("button", name=choice)).click()
            visited.settle()
        chosen = shared(visited)
        assert query(chosen) == {"cell": "lstm", "example": "unsorted", "step": "3", "hide": "sidebar,code,menu"} | {
            "theme": "dark"
        }
        assert scanned(visited) == chosen
        visited.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        panel.get_by_role("button", name="Copy").first.click()
        expect(panel.get_by_role("button", name="Copied")).to_be_visible()
        assert visited.page.evaluate("navigator.clipboard.readText()") == chosen
        with visited.page.expect_download() as download:
            panel.get_by_role("button", name="The movie as a file").click()
        page = download.value.path().read_text("utf-8")
        assert download.value.suggested_filename == "packviz-packing.html"
        assert 'id="movie"' in page
    with visit(browser, address, chosen.partition("?")[2], path="packing") as visited:
        assert visited.data("step") == "3"
        assert visited.data("theme") == "dark"
        assert visited.data("code") == "off"
        for part in ("stHeader", "stTopNav", "stExpandSidebarButton"):
            expect(visited.page.get_by_test_id(part)).to_be_hidden()
        visited.page.locator(".st-key-onward a").click()
        visited.page.wait_for_url("**/running*")
        visited.settle()
        expect(visited.page.get_by_test_id("stHeader")).to_be_hidden()
        assert visited.data("theme") == "dark"
        open_panel(visited)
        told = parse_qs(urlsplit(shared(visited)).query)
        assert (told["hide"], told["theme"]) == (["sidebar,code,menu"], ["dark"])


def test_a_long_link_has_no_qr_code_and_says_so_on_a_phone(browser: Browser, address: str) -> None:
    text = "\n".join(["1 2 3 4 5 6 7 8 9"] * 40)
    with visit(browser, address, {"sequences": text, "example": "own"}, path="sorting", size=PHONE) as visited:
        visited.main.get_by_role("button", name="Share").click()
        expect(visited.page.get_by_text("too long for a QR code")).to_be_visible()
        box = visited.page.locator(".st-key-sharing").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE[0]
        assert query(shared(visited))["sequences"] == text
