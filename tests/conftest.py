"""The real browser that all tests share: two cannot be steered from one process."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error

from bench.browser import chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser; without one what it shows cannot be tested, and that is a failure."""
    try:
        with chromium() as started:
            yield started
    except Error as reason:
        pytest.fail(f"These tests need Chrome or Chromium, and none could be started: {reason.message}", pytrace=False)
