"""The real browser that all tests share, for two cannot be steered from one process; torch kept to one thread."""

from collections import Counter, defaultdict
from collections.abc import Generator, Iterator

import pytest
import torch
from playwright.sync_api import Browser, Error
from seeds import some
from tabs import screenshots

from bench.browser import chromium


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what PACKVIZ_SEEDS leaves out of each grid; mark what needs a browser, and put these files last.

    For the browser's event loop stays, and asyncio would trip over it.

    Of these, the files with the most such tests come first: the short ones balance the processes in the end.
    """
    grids: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        grids[item.nodeid.partition("[")[0]].append(item)
    left = {item for grid in grids.values() for item in some(grid)}
    left |= {item for item in items if item.get_closest_marker("check")}
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = [item for item in items if item in left]
    slow: Counter[object] = Counter()
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
            slow[item.path] += 1
    items.sort(key=lambda item: (slow[item.path] > 0, -slow[item.path]))


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
    """Start the browser; without one what it shows cannot be tested, and that is a failure."""
    try:
        with chromium() as started:
            yield started
    except Error as reason:
        pytest.fail(f"These tests need Chrome or Chromium, and none could be started: {reason.message}", pytrace=False)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Keep torch to one thread, as the app does: on tensors as small as these, two only wait for one another."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what classes store out of the user's data folder; the servers that the tests start inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PACKVIZ_DATA", str(tmp_path_factory.mktemp("data")))
        yield
