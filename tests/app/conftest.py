"""The app, opened in the browser."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import visits
from playwright.sync_api import Browser


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[visits.Open]:
    """Open pages of the app; at the end, check that nothing has gone wrong on any of them."""
    with ExitStack() as pages:
        yield lambda *query, **how: pages.enter_context(visits.visit(browser, address, *query, **how))
