"""Batches of the tests of the trace; one thread; nothing in the process is changed."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent))


@pytest.fixture(autouse=True, scope="module")
def always_one_thread(one_thread: None) -> None:
    """Run every test of this folder in one thread."""
