"""The app as a separate server with its own environment, which can be stopped or killed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench import servers

__all__ = ["ROOT", "Server", "a_worker", "program", "server"]

ROOT = Path(__file__).parents[2]
NEEDED = "These tests need redis-server and haproxy. On Debian and Ubuntu: sudo apt install redis-server haproxy"


@dataclass
class Server:
    """A server: its address, its process, and what it has printed so far."""

    address: str
    process: subprocess.Popen[bytes]
    log: Path


@contextmanager
def server(log: Path, environment: dict[str, Any]) -> Iterator[Server]:
    """Serve the app and yield it once it is ready. environment: on top of this process's own."""
    with servers.packviz(log=log, **environment) as (address, process):
        yield Server(address.replace("localhost", "127.0.0.1"), process, log)


@contextmanager
def a_worker(redis_url: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start an RQ worker that can import the tests' work, and return its process."""
    environment = os.environ | {"REDIS_URL": redis_url, "PYTHONPATH": str(ROOT / "tests")}
    process = subprocess.Popen([sys.executable, "-m", "ui.jobs.worker"], cwd=ROOT, env=environment)
    yield process
    process.kill()
    process.wait(30)


def program(name: str) -> Path:
    """Return the path of a program; without it, the test is skipped, or fails in CI."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(NEEDED)
    return Path(found)
