"""Workers and a balancer on this machine."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import ROOT, program


@pytest.fixture(scope="session")
def haproxy() -> Path:
    return program("haproxy")


@pytest.fixture(scope="session")
def worker(redis_url: str) -> Iterator[int]:
    """Start a worker, and return the id of its process."""
    environment = os.environ | {"REDIS_URL": redis_url, "PYTHONPATH": str(ROOT / "tests")}
    process = subprocess.Popen([sys.executable, "-m", "ui.worker"], cwd=ROOT, env=environment)
    yield process.pid
    process.kill()
    process.wait(30)
