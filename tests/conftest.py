"""What tests share: one browser, one app as `make run` starts it, one Redis; their order; torch kept to one thread."""

import asyncio
import subprocess
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from inspect import iscoroutinefunction, signature
from pathlib import Path

import pytest
import torch
from hypothesis import settings
from playwright.sync_api import Browser, Error, expect
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry
from seeds import many, some
from servers import program
from tabs import screenshots

from bench import servers
from bench.browser import chromium

ROOT = Path(__file__).parents[1]
pytest.register_assert_rewrite("entry_cases")
settings.register_profile("packviz", deadline=None, max_examples=many(100))
settings.load_profile("packviz")
torch.set_num_threads(1)  # as the app does: on tensors as small as these, two only wait for one another


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what PACKVIZ_SEEDS leaves out of each grid; mark what needs a browser, and put these files last.

    For the browser's event loop stays, and asyncio would trip over it. Of these files, those with the most tests come
    first: the short ones balance the processes in the end.
    """
    grids: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        grids[item.nodeid.partition("[")[0]].append(item)
    left = {item for grid in grids.values() for item in some(grid)}
    left |= {item for item in items if item.get_closest_marker("check")}
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = [item for item in items if item in left]
    in_browser: dict[object, int] = defaultdict(int)
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
            in_browser[item.path] += 1
    items.sort(key=lambda item: (in_browser[item.path] > 0, -in_browser[item.path], item.path))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop and a thread of its own: the browser has a loop in this one."""
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in signature(pyfuncitem.obj).parameters}
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(pyfuncitem.obj(**given))).result()
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep a picture of every page that is open when a test fails, and say where."""
    report = yield
    started = getattr(item, "funcargs", {}).get("browser")
    if report.failed and started is not None:
        report.sections += [("Screenshots", "\n".join(screenshots(started, item.name)))]
    return report


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser, for two cannot be steered from one process; without one what it shows cannot be tested."""
    try:
        with chromium() as started:
            expect.set_options(timeout=20_000)  # ms: on a busy machine a chart takes longer than the usual 5 s to come
            yield started
    except Error as reason:
        pytest.fail(f"These tests need Chrome or Chromium, and none could be started: {reason.message}", pytrace=False)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Serve the app, and return where."""
    with servers.packviz() as (served, _):
        yield served


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve an empty Redis that has each write on disk before it is acknowledged, and return its address."""
    port, folder = servers.free_port(), tmp_path_factory.mktemp("redis")
    settings = {"port": port, "dir": folder, "bind": "127.0.0.1", "appendonly": "yes", "appendfsync": "always"}
    options = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    process = subprocess.Popen([program("redis-server"), *options], stdout=subprocess.DEVNULL)
    address = f"redis://127.0.0.1:{port}/0"
    Redis.from_url(address, retry=Retry(ConstantBackoff(0.05), 600)).ping()  # within half a minute
    yield address
    process.terminate()
    process.wait(30)


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Give back the main module: a page run without a browser leaves its script there, and new processes import it."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session", autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what classes store out of the user's data folder and Redis; the servers that the tests start inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PACKVIZ_DATA", str(tmp_path_factory.mktemp("data")))
        for name in ("ROOMS", "JOINS", "GUESSES"):
            patch.setenv(f"PACKVIZ_{name}", "100000")  # all tests have one address
        patch.delenv("REDIS_URL", raising=False)
        yield
