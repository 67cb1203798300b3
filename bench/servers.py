"""The servers that are compared: packviz as `make run` starts it, and a plain app."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType
from urllib.request import urlopen

ROOT = Path(__file__).parent.parent
HELLO = Path(__file__).parent / "hello.py"
PATIENCE = 180.0  # seconds until a server must be up

Served = AbstractContextManager[tuple[str, subprocess.Popen[bytes]]]  # its address and its process, while it runs


def packviz(port: int | None = None, log: Path | None = None, **environment: str) -> Served:
    """Serve the app from its own folder, on a free port unless one is given; its output goes to `log`."""
    port = port or free_port()
    command = [sys.executable, "-m", "ui.server", "--port", str(port), "--headless"]
    return _served("packviz", command, ROOT, port, log, environment)


def plain(*imports: str) -> Served:
    """Serve the plain app from a folder without our Streamlit settings."""
    port = free_port()
    options = ["--server.port", str(port), "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    command = [sys.executable, "-m", "streamlit", "run", str(HELLO), *options, "--", *imports]
    return _served("The plain app", command, HELLO.parent, port)


@contextmanager
def _served(
    name: str,
    command: Sequence[str],
    folder: Path,
    port: int,
    log: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
    with tempfile.TemporaryFile("w+") if log is None else log.open("w+") as out:
        process = subprocess.Popen(
            command, cwd=folder, env={**inherited, **environment}, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            address, deadline = f"http://localhost:{port}", time.monotonic() + PATIENCE
            while not (serves := healthy(address)) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.1)
            out.seek(0)
            said = out.read()
            if not serves or process.poll() is not None:  # once it has ended, another server may answer there
                raise RuntimeError(f"{name} does not serve at {address}:\n{said}")
            yield address, process
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """Return a port that is currently free, out of tens of thousands, so that two servers do not collide."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def healthy(address: str) -> bool:
    """Return whether a server, or one behind a balancer, answers there."""
    try:
        with urlopen(f"{address}/_stcore/health", timeout=2) as answer:
            return bool(answer.read() == b"ok")
    except OSError:
        return False
