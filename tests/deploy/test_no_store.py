"""The balancer while Redis is down: no replica can store anything, but the app answers."""

import json
import os
import subprocess
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from servers import ROOT, server
from work_cases import until

from bench.servers import free_port, healthy

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


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
            request = Request(f"{address}/api/rooms", b"{}", {"Content-Type": "application/json"})
            with pytest.raises(HTTPError) as refused:
                urlopen(request, timeout=60)
            assert refused.value.code == 507
            assert json.load(refused.value)["error"]
            with urlopen(f"{address}/packing", timeout=60) as page:
                assert page.status == 200
        finally:
            balancer.kill()
            balancer.wait(30)
