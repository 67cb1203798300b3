"""`make run` names a taken port and the way out."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ui.port import free_port_after, problem_with

ROOT = Path(__file__).parent.parent


def test_a_free_port_is_no_problem() -> None:
    assert problem_with(str(free_port_after(20_000))) is None


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_taken_port_is_named_with_a_free_one(address: str) -> None:
    with socket.create_server((address, 0)) as taken:
        port = taken.getsockname()[1]
        problem = problem_with(str(port))
    assert problem is not None
    assert f"Port {port} is taken" in problem
    assert f"make run PORT={free_port_after(port)}" in problem


@pytest.mark.parametrize("port", ["", "0", "65536", "-1", "web", "٣", "8501 8502"])
def test_what_is_no_port_is_refused_with_an_example(port: str) -> None:
    problem = problem_with(port)
    assert problem is not None
    assert "make run PORT=8502" in problem


def test_the_command_fails_with_that_line_alone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = [sys.executable, "-m", "ui.port", str(taken.getsockname()[1])]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Port ")
    assert done.stderr.count("\n") == 1
