"""The files in deploy/, as far as they can be checked without Docker and without a cluster."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from servers import ROOT

from ui.jobs.work import TIME_LIMIT

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8")))
PODS = {each["metadata"]["name"]: each["spec"] for each in MANIFESTS if "template" in each["spec"]}
CONTAINERS = [(name, box) for name, spec in PODS.items() for box in spec["template"]["spec"]["containers"]]
SETTINGS = [(name, each["name"], each["value"]) for name, box in CONTAINERS for each in box.get("env", ())]


def instructions() -> Iterator[tuple[str, str]]:
    """Yield the instructions of the Dockerfile, with continued lines as one."""
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text("utf-8"))
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            yield name, rest


def copied() -> list[str]:
    return [source for name, rest in instructions() if name == "COPY" for source in rest.split()[:-1]]


@pytest.mark.slow
def test_the_image_contains_everything_the_app_needs(tmp_path: Path) -> None:
    for source in copied():
        origin = ROOT / source
        assert origin.exists()
        if origin.is_dir():
            shutil.copytree(origin, tmp_path / source, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(origin, tmp_path / source)
    code = "import app, ui.jobs.worker, ui.server.metrics, classroom.rooms; print(len(app.pages()))"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_server_trusts_its_balancer_for_client_addresses() -> None:
    image = next(rest.split() for name, rest in instructions() if name == "ENV")
    one, two = (COMPOSE["services"][name]["environment"] for name in ("one", "two"))
    assert "FORWARDED_ALLOW_IPS=*" in image
    assert one["FORWARDED_ALLOW_IPS"] == two["FORWARDED_ALLOW_IPS"] == "*"
    assert ("packviz", "FORWARDED_ALLOW_IPS", "*") in SETTINGS


def test_every_part_has_a_memory_limit_no_root_and_time_to_shut_down() -> None:
    parts = {name: each for name, each in COMPOSE["services"].items() if name != "balancer"}
    assert all("mem_limit" in each for each in parts.values())
    seconds = {
        name: int(each["stop_grace_period"].removesuffix("s")) for name, each in parts.items() if name != "redis"
    }
    assert all("memory" in box["resources"]["limits"] for _, box in CONTAINERS)
    for name, spec in PODS.items():
        pod = spec["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        if "terminationGracePeriodSeconds" in pod:
            seconds[name] = pod["terminationGracePeriodSeconds"]
    assert len(seconds) == 5
    assert all(time > (TIME_LIMIT if "worker" in name else 10) for name, time in seconds.items())


def test_copied_files_are_not_ignored() -> None:
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").split()
    assert lines[0] == "*"
    assert {line.removeprefix("!") for line in lines if line.startswith("!")} == set(copied())


def test_the_image_runs_unprivileged_with_a_health_check() -> None:
    told = list(instructions())
    names = [name for name, _ in told]
    assert set(names) <= {
        *("FROM", "ARG", "RUN", "WORKDIR", "COPY", "USER", "ENV", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD")
    }
    assert names.index("USER") > max(i for i, name in enumerate(names) if name in ("RUN", "COPY"))
    assert dict(told)["USER"] == "1000"
    installs = next(rest for name, rest in told if name == "RUN" and "pip install" in rest).split("&&")
    assert "torch.txt" in installs[1]
    assert '--index-url "$TORCH_INDEX"' in installs[1]
    assert re.findall(r"-r (\S+)", installs[2]) == ["requirements.txt", "deploy/requirements.txt"]
    assert "/api/health" in dict(told)["HEALTHCHECK"]
    assert [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line.startswith("torch==")]


def test_the_references_in_the_compose_file_have_targets() -> None:
    for each in COMPOSE["services"].values():
        assert set(each.get("depends_on", ())) <= set(COMPOSE["services"])
        for source in (volume.partition(":")[0] for volume in each.get("volumes", ())):
            assert (DEPLOY / source).is_file() if source.startswith(".") else source in COMPOSE["volumes"]
        if "build" in each:
            context = (DEPLOY / each["build"]["context"]).resolve()
            assert (context / each["build"]["dockerfile"]).is_file()
    balancer = COMPOSE["services"]["balancer"]["environment"]
    replicas = [balancer[name].partition(":")[0] for name in ("ONE", "TWO")]
    assert all("command" not in COMPOSE["services"][name] for name in replicas)
    redis = COMPOSE["services"]["redis"]["command"]
    assert redis[redis.index("--appendfsync") + 1] == "always"


def test_the_references_in_the_manifests_have_targets() -> None:
    labels = [spec["template"]["metadata"]["labels"] for spec in PODS.values()]
    assert [spec["selector"]["matchLabels"] for spec in PODS.values()] == labels
    services = {each["metadata"]["name"]: each["spec"] for each in MANIFESTS if each["kind"] == "Service"}
    assert all(spec["selector"] in labels for spec in services.values() if "selector" in spec)
    (ingress,) = (each["spec"] for each in MANIFESTS if each["kind"] == "Ingress")
    asked = {path["path"]: path["backend"]["service"] for path in ingress["rules"][0]["http"]["paths"]}
    closed = {path for path, to in asked.items() if "selector" not in services[to["name"]]}
    assert closed == {"/metrics", "/_stcore/metrics"}
    assert services[asked["/"]["name"]]["ports"] == [{"port": 8501}]
    assert {value for _, name, value in SETTINGS if name == "REDIS_URL"} == {"redis://packviz-redis:6379/0"}


def test_haproxy_accepts_its_settings_without_a_warning(haproxy: Path) -> None:
    places = {"BIND": "127.0.0.1:8080", "ONE": "127.0.0.1:8501", "TWO": "127.0.0.1:8502"}
    done = subprocess.run(
        [haproxy, "-c", "-f", DEPLOY / "haproxy.cfg"], env={**os.environ, **places}, capture_output=True, text=True
    )
    assert (done.returncode, "WARNING" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize(
    "name",
    ["REDIS_URL", *(f"PACKVIZ_{each}" for each in ("DATA", "ROOMS", "JOINS", "GUESSES", "METRICS", "LOGS"))],
)
def test_every_setting_named_in_the_deployment_guide_is_read_somewhere(name: str) -> None:
    assert f"`{name}`" in (DEPLOY / "README.md").read_text("utf-8")
    code = [path for folder in ("ui", "classroom") for path in (ROOT / folder).rglob("*.py")]
    assert any(f'"{name}"' in path.read_text("utf-8") for path in code)
