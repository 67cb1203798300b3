"""Redis, workers and a balancer on this machine; without them these tests say how to install them."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import ROOT, free_port

NEEDED = "These tests need redis-server and haproxy. On Debian and Ubuntu: sudo apt install redis-server haproxy"


def program(name: str) -> Path:
    """Return where a program is; without it a test cannot be run, which where tests are run for others is a failure."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(NEEDED)
    return Path(found)


@pytest.fixture(scope="session")
def haproxy() -> Path:
    return program("haproxy")


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve an empty Redis that has each write on disk before it is acknowledged, and return its address."""
    port, folder = free_port(), tmp_path_factory.mktemp("redis")
    settings = {"port": port, "dir": folder, "bind": "127.0.0.1", "appendonly": "yes", "appendfsync": "always"}
    options = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    process = subprocess.Popen([program("redis-server"), *options], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield f"redis://127.0.0.1:{port}/0"
    process.terminate()
    process.wait(30)


@pytest.fixture(scope="session")
def worker(redis_url: str) -> Iterator[int]:
    """Start a worker, and return the id of its process."""
    environment = os.environ | {"REDIS_URL": redis_url, "PYTHONPATH": str(ROOT / "tests")}
    process = subprocess.Popen([sys.executable, "-m", "ui.worker"], cwd=ROOT, env=environment)
    yield process.pid
    process.kill()
    process.wait(30)
