"""The app as `make run` starts it."""

import sys
from collections.abc import Iterator

import pytest

from bench import servers


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Serve the app, and return where."""
    with servers.packviz() as served:
        yield served


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Give back the main module: a page run without a browser leaves its script there, and new processes import it."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main
