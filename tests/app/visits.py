"""What a visitor does and sees."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Browser, Locator, expect
from tabs import Scheme, Size, Tab, enter, screenshots, tab, until

from packviz.teach.pages import PAGES
from ui.parts.controls import LABEL

LAPTOP, PROJECTOR, PHONE = (1440, 900), (1280, 720), (390, 844)
GROUP = {page.menu: page.group for page in PAGES}  # of each entry of the menu
PLAYER = '[data-testid="packviz-player"]'

QUIET = """async (players) => {
    const app = document.querySelector("[data-test-script-state]"), patience = performance.now() + 1500;
    const waiting = () => (window.asked ?? 0) > (window.answered ?? 0) && performance.now() < patience;
    for (let turns = 0, before = ""; turns < 5; turns++) {
        const now = players.map((each) => (each.isConnected ? each.dataset.painted ?? "0" : "gone"));
        if (now.includes("gone")) return -1;
        const busy = waiting() || app?.dataset.testScriptState !== "notRunning" || now.includes("0");
        if (busy || String(now) !== before) turns = 0;
        before = String(now);
        await new Promise((done) => setTimeout(done, 20));
    }
    return players.length;
}"""  # how many players have come to rest once the server has answered; it need not answer everything


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
}"""  # the visible words, except code


class Visit:
    """One open page of the app."""

    def __init__(self, tab: Tab, address: str) -> None:
        self.page, self.errors, self.dialogs, self._requests = tab.page, tab.errors, tab.dialogs, tab.requests
        self.page.goto(address)
        self.player.or_(self.page.locator(".st-key-measured, .st-key-plan, .st-key-projector")).first.wait_for()
        self.settle()

    def check(self) -> None:
        """Check that there were no errors, no dialogs and no requests to other hosts."""
        expect(self.page.get_by_test_id("stException")).to_have_count(0)
        assert self.errors == [], self.errors
        assert self.dialogs == []
        assert {urlsplit(url).hostname for url in self._requests} <= {"localhost", "127.0.0.1", "", None}

    @property
    def player(self) -> Locator:
        return self.page.locator(PLAYER)

    @property
    def text(self) -> Locator:
        self._open_sidebar()
        return self.page.get_by_label(LABEL)

    @property
    def sidebar(self) -> Locator:
        self._open_sidebar()
        return self.page.get_by_test_id("stSidebar")

    def _open_sidebar(self) -> None:
        """Open the sidebar, which is closed at first, if there is room for it beside the page."""
        opener = self.page.get_by_test_id("stExpandSidebarButton")
        if (self.page.viewport_size or {"width": 0})["width"] > PHONE[0] and opener.is_visible():
            opener.click()
            opener.wait_for(state="hidden")

    @property
    def main(self) -> Locator:
        return self.page.get_by_test_id("stMain")

    @property
    def query(self) -> dict[str, str]:
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.page.url).query).items()}

    @property
    def words(self) -> list[str]:
        """The visible words on the screen, except code."""
        return list(self.page.evaluate(WORDS))

    def data(self, name: str) -> str:
        """Return one of the player's data attributes."""
        return self.player.get_attribute(f"data-{name}") or ""

    def unfold(self, title: str, within: Locator | None = None) -> None:
        """Open a folded part of the page, or of something else, and wait until it has stopped growing.

        What is in it moves until then: a click that begins on it may end beside it.
        """
        folded = (within or self.main).get_by_test_id("stExpander").filter(has_text=title)
        folded.locator("summary").click()
        self.settle()
        until(self.page, lambda: folded.locator("details").evaluate("each => !each.getAnimations().length"))

    def settle(self) -> None:
        """Wait until the server has answered and nothing moves."""
        while self.player.evaluate_all(QUIET) != self.player.count():
            pass  # a player is gone, or another one has come

    def click(self, target: Locator) -> None:
        """Click something, and wait for the answer."""
        target.click()
        self.settle()

    def enter(self, field: Locator, text: str) -> None:
        """Type a text into a field, press Enter, and wait for the answer."""
        enter(field, text)
        self.settle()

    def type(self, text: str) -> None:
        """Replace the text of the batch."""
        self.text.fill(text)
        self.text.press("Control+Enter")
        self.settle()

    def go_to(self, name: str) -> None:
        """Choose a page in the menu, and wait for it."""
        group = GROUP[name]
        self.page.get_by_test_id("stTopNavSection").filter(has_text=group).click()
        item = re.compile(rf"^(\d )?{re.escape(name)}$")  # lessons are numbered
        self.page.get_by_role("menuitem", name=item).click()
        self.page.wait_for_url(f"**/{name.lower().replace(' ', '_')}*")
        self.settle()

    def press(self, *keys: str) -> None:
        """Press keys in the player."""
        self.player.focus()
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()


Open = Callable[..., Visit]  # the fixture `visit`: what follows without a browser and an address


@contextmanager
def visit(
    browser: Browser,
    address: str,
    query: Mapping[str, object] | str | None = "",
    *,
    path: str = "",
    size: Size = PROJECTOR,
    scheme: Scheme = "light",
    motion: bool = True,
    script: str = "",
    **options: Any,
) -> Iterator[Visit]:
    """Open the app as a new visitor, and check at the end that nothing has gone wrong.

    query: None for no query at all; one that names no batch is about numbers. script: runs before the page's own.
    options: of the browser's context.
    """
    if script:
        options["locale"] = "en-US"  # a context of its own: other tests must not meet the script
    asked = query if isinstance(query, str) else urlencode(query or {})
    of_a_batch = path.partition("?")[0] not in ("questions", "doctor", "quiz", "class")
    if query is not None and of_a_batch and "example" not in asked and "sequences" not in asked:
        asked = "&".join(filter(None, (asked, "example=unsorted")))
    with tab(browser, size, scheme=scheme, motion=motion, **options) as taken:
        if script:
            taken.page.add_init_script(script)
        try:
            seen = Visit(taken, f"{address}/{path}?{asked}".rstrip("?"))
            yield seen
            seen.check()
        except BaseException as failure:
            failure.add_note("\n".join(screenshots(browser, os.environ["PYTEST_CURRENT_TEST"])))
            raise


def wider_by(visited: Visit) -> int:
    """Return by how many pixels a page is wider than its window."""
    script = "main => Math.max(main.scrollWidth, document.documentElement.scrollWidth) - window.innerWidth"
    return int(visited.main.evaluate(script))


END = """() => document.querySelector("[data-testid=stMain]").scrollTop
    + document.querySelector(".stMainBlockContainer").getBoundingClientRect().bottom"""  # how high a page is


def two_screens(visited: Visit, *, sections: int) -> bool:
    """Return whether a lesson with all its parts folded fits two screens. sections: how many headings it has."""
    visited.main.locator(".st-key-onward a").scroll_into_view_if_needed()
    expect(visited.main.locator("details[open]")).to_have_count(0)
    expect(visited.main.get_by_role("heading", level=3)).to_have_count(sections)
    height = (visited.page.viewport_size or {"height": 0})["height"]
    return bool(visited.page.evaluate(END) <= 2 * height)


def ticked(visited: Visit, lesson: str) -> bool:
    """Return whether the menu has a tick beside a lesson."""
    group = GROUP[lesson]
    menu = visited.page.get_by_test_id("stTopNavSection").filter(has_text=group)
    menu.click()
    item = visited.page.get_by_role("menuitem", name=re.compile(lesson))  # "Unpacking" has no capital P
    item.wait_for()
    text = item.inner_text()
    visited.page.keyboard.press("Escape")
    return "✔" in text
