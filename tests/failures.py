"""What a browser showed when a test failed."""

import re
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Error

__all__ = ["screenshots"]

FOLDER = Path(__file__).parents[1] / ".pytest_cache" / "failures"


def screenshots(browser: Browser, test: str) -> Iterator[str]:
    """Keep a picture of each open page in a file, and yield the page's address with it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = [page for context in browser.contexts for page in context.pages]
    for i, page in enumerate(pages):
        path = FOLDER / f"{re.sub(r'[^A-Za-z0-9]+', '-', test)[:80]}-{i}.png"
        try:
            page.screenshot(path=path, timeout=5_000)
        except Error as reason:
            yield f"{page.url}: no picture, for {reason.message}"
        else:
            yield f"{page.url}: {path}"
