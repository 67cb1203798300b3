"""Workers and a balancer on this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import a_worker, program


@pytest.fixture(scope="session")
def haproxy() -> Path:
    return program("haproxy")


@pytest.fixture(scope="session")
def worker(redis_url: str) -> Iterator[None]:
    with a_worker(redis_url):
        yield
