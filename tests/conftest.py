"""The real browser that all tests share, for two cannot be steered from one process; torch kept to one thread."""

from collections.abc import Iterator

import pytest
import torch
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


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Keep torch to one thread: on tensors as small as these, two only wait for one another."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
