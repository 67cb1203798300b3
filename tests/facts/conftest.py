"""One thread: on tensors as small as these, two only wait for one another."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def always_one_thread(one_thread: None) -> None:
    """Run every test of this folder in one thread."""
