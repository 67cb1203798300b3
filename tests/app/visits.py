"""What a visitor does, and sees."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from failures import screenshots
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Locator, Page

LAPTOP, PROJECTOR, PHONE = (1440, 900), (1280, 720), (390, 844)
PLAYER = '[data-testid="packviz-player"]'


class Visit:
    """One open page, with whatever went wrong in it and whatever it asked other hosts for."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.errors: list[str] = []
        self.hosts: set[str | None] = set()
        self.dialogs: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text) if _is_error(message) else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).hostname))
        page.on("dialog", self._dismiss)
        page.goto(address)
        self.player.or_(page.locator(".st-key-measured")).first.wait_for()
        self.settle()

    def _dismiss(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    @property
    def player(self) -> Locator:
        return self.page.locator(PLAYER)

    @property
    def text(self) -> Locator:
        return self.page.get_by_label("Sequences, one a line")

    @property
    def sidebar(self) -> Locator:
        return self.page.get_by_test_id("stSidebar")

    @property
    def main(self) -> Locator:
        return self.page.get_by_test_id("stMain")

    @property
    def query(self) -> dict[str, str]:
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.page.url).query).items()}

    def data(self, name: str) -> str:
        """Return one of the player's data attributes."""
        return self.player.get_attribute(f"data-{name}") or ""

    def settle(self) -> None:
        """Wait until the server has answered, and nothing moves any more."""
        self.page.wait_for_timeout(150)
        self.page.wait_for_selector('[data-test-script-state="notRunning"]', state="attached")
        before: list[str] = []  # of all players that are there: one may be gone at any moment
        while now := self.player.evaluate_all("all => all.map(each => each.dataset.painted ?? '')"):
            if now == before and not {"", "0"} & set(now):
                return
            before = now
            self.page.wait_for_timeout(150)

    def type(self, text: str) -> None:
        """Type a text over the one that is there."""
        self.text.fill(text)
        self.text.press("Control+Enter")
        self.settle()

    def press(self, *keys: str) -> None:
        """Press keys in the player."""
        self.player.focus()
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()


def _is_error(message: ConsoleMessage) -> bool:
    """Tell an error from this: Streamlit's frontend looks for its server below a deep link's own path first."""
    return message.type == "error" and "/_stcore/" not in message.location.get("url", "")


@contextmanager
def visit(
    browser: Browser,
    address: str,
    query: Mapping[str, object] | str = "",
    *,
    path: str = "",
    size: tuple[int, int] = PROJECTOR,
    **options: Any,
) -> Iterator[Visit]:
    """Open the app in a browser that has never seen it."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    asked = query if isinstance(query, str) else urlencode(query)
    try:
        yield Visit(context.new_page(), f"{address}/{path}?{asked}".rstrip("?"))
    except BaseException as failure:
        failure.add_note("\n".join(screenshots(browser, os.environ["PYTEST_CURRENT_TEST"])))
        raise
    finally:
        context.close()
