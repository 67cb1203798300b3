"""The browser for all measurements: an installed Chrome or Chromium, or else Playwright's own."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WATCH = (Path(__file__).parent / "watch.js").read_text("utf-8")
SCREEN = (1440, 900)  # pixels


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser without a window."""
    with sync_playwright() as playwright:
        browser = _launched(playwright)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def fresh_page(browser: Browser, script: str = "", screen: tuple[int, int] = SCREEN) -> Iterator[Page]:
    """Open a page with an empty cache; watch.js and `script` run in it before its own scripts."""
    context = browser.new_context(viewport={"width": screen[0], "height": screen[1]})
    try:
        context.add_init_script(f"{WATCH}\n{script}")
        yield context.new_page()
    finally:
        context.close()


def _launched(playwright: Playwright) -> Browser:
    installed = next((path for name in NAMES if (path := shutil.which(name))), None)
    if installed is not None:
        return playwright.chromium.launch(executable_path=installed, args=FLAGS)
    try:
        return playwright.chromium.launch(channel="chrome", args=FLAGS)
    except Exception:  # Playwright found no Chrome
        return playwright.chromium.launch(args=FLAGS)
