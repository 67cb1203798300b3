"""The balancer while Redis is down: no replica can store anything, but the app answers."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from servers import ROOT, server
from work_cases import until

from bench.servers import free_port, healthy

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def asked_for_a_class(address: str) -> tuple[int, dict[str, Any]]:
    """Return the status and the answer to a teacher who starts a class."""
    request = Request(f"{address}/api/rooms", b"{}", {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except HTTPError as refused:
        text = refused.read()
        return refused.code, json.loads(text) if text.startswith(b"{") else {}


def test_without_redis_a_class_gets_507_and_lessons_go_on(haproxy: Path, tmp_path: Path) -> None:
    nowhere, port = f"redis://127.0.0.1:{free_port()}/0", free_port()
    with server(tmp_path / "log", {"REDIS_URL": nowhere}) as replica:
        place = replica.address.removeprefix("http://")
        balancer = subprocess.Popen(
            [haproxy, "-db", "-f", ROOT / "deploy" / "haproxy.cfg"],
            env={**os.environ, "ONE": place, "TWO": place, "BIND": f"127.0.0.1:{port}"},
            stderr=subprocess.DEVNULL,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            until(lambda: healthy(address))
            answers: list[tuple[int, dict[str, Any]]] = []

            def refused() -> bool:
                answers.append(asked_for_a_class(address))
                return answers[-1][0] == 507

            until(refused)  # at first the balancer takes both replicas to be up
            assert answers[-1][1]["error"]
            with urlopen(f"{address}/packing", timeout=60) as page:
                assert page.status == 200
        finally:
            balancer.kill()
            balancer.wait(30)
