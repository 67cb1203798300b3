"""Tabs of the browser, taken by one test after the other: a page costs half as much in a warm one as in a new one."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Error, FloatRect, Locator, Page

__all__ = ["Scheme", "Size", "Tab", "box_of", "enter", "reach", "screenshots", "tab", "until", "violations"]

Size = tuple[int, int]
Scheme = Literal["light", "dark"]

FOLDER = Path(__file__).parents[1] / ".pytest_cache" / "failures"
BLANK = "about:blank"
LISTEN = """
    const { send } = WebSocket.prototype, told = { attributeFilter: ["data-test-script-state"], subtree: true };
    WebSocket.prototype.send = function (...data) { window.asked = performance.now(); return send.apply(this, data); };
    new MutationObserver(() => { window.answered = performance.now(); }).observe(document, told);
"""  # when a page last asked its server, and when Streamlit's run last began or ended


class Tab:
    """One page of the browser: what has gone wrong in it, and what it has asked for, since a test took it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self.dialogs: list[str] = []
        self.requests: list[str] = []
        page.add_init_script(LISTEN)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", self._dismiss)
        page.on("request", lambda request: self.requests.append(request.url))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "warning":
            self.warnings.append(message.text)
        elif message.type == "error" and ("/_stcore/" not in message.location.get("url", "") or "404" in message.text):
            self.errors.append(message.text)  # a server that was restarted does not answer for a while

    def _dismiss(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def empty(self) -> None:
        """Leave the page that is open, with all that it has kept in the browser."""
        self.page.mouse.move(0, 0)
        with suppress(Error):  # a page of nobody has no storage
            self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.page.context.clear_cookies()
        self.page.goto(BLANK)
        for heard in (self.errors, self.warnings, self.dialogs, self.requests):
            heard.clear()


_free: dict[Browser, list[Tab]] = {}


@contextmanager
def tab(
    browser: Browser, size: Size, *, scheme: Scheme = "light", motion: bool = True, **options: Any
) -> Iterator[Tab]:
    """Yield a tab that shows nothing and remembers nothing.

    options: of a new context, for what an open tab cannot be told; it is closed afterwards, as it is after a failure.
    """
    free = _free.setdefault(browser, [])
    taken = free.pop() if free and not options else Tab(browser.new_context(**options).new_page())
    again = False
    try:
        taken.page.set_viewport_size({"width": size[0], "height": size[1]})
        taken.page.emulate_media(color_scheme=scheme, reduced_motion="no-preference" if motion else "reduce")
        yield taken
        again = not options
    finally:
        if again:
            taken.empty()
            free.append(taken)
        else:
            taken.page.context.close()


def box_of(seen: Locator) -> FloatRect:
    """Return where something stands in the window, in pixels."""
    box = seen.bounding_box()
    assert box is not None
    return box


def enter(field: Locator, text: str) -> None:
    """Type a text into a field, over what is there, and press Enter."""
    field.fill(text)
    field.press("Enter")


def reach(wanted: Locator) -> None:
    """Go on with Tab until something has the focus."""
    wanted.wait_for()
    for _ in range(60):
        if wanted.evaluate("node => node === node.getRootNode().activeElement"):
            return
        wanted.page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reaches {wanted}")


def until(page: Page, true: Callable[[], object]) -> None:
    """Look again and again until something is so; if it is not within a minute, that is a failure."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        page.wait_for_timeout(100)


def violations(page: Page, within: str | None = None, impacts: tuple[str, ...] = ("serious", "critical")) -> list[str]:
    """Return what axe-core finds on a page, or in a part of it, that is of these impacts, and still after 14 seconds.

    What is drawn anew is pale meanwhile, on a busy machine for seconds.
    """
    for wait in (0, 2000, 4000, 8000):
        page.wait_for_timeout(wait)
        told = [each for each in Axe().run(page, within).response["violations"] if each["impact"] in impacts]
        if not told:
            break
    return [
        f"{each['id']}: {node['target']} {node.get('failureSummary', '')}" for each in told for node in each["nodes"]
    ]


def screenshots(browser: Browser, test: str) -> Iterator[str]:
    """Keep a picture of each page that a test has open in a file, and yield the page's address with it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = [page for context in browser.contexts for page in context.pages if page.url != BLANK]
    for i, page in enumerate(pages):
        path = FOLDER / f"{re.sub(r'[^A-Za-z0-9]+', '-', test)[:80]}-{i}.png"
        try:
            page.screenshot(path=path, timeout=5_000)
        except Error as reason:
            yield f"{page.url}: no picture, for {reason.message}"
        else:
            yield f"{page.url}: {path}"
