"""axe-core, on every page: nothing serious and nothing critical in what is ours."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from visits import PHONE, PROJECTOR, visit

LAST = {
    "": "text=The same run in plain PyTorch",
    "compare": "text=Padding in other layers",
    "cost": "text=whatever runs on them",
    "training": "text=CC BY",
    "questions": ".st-key-entries button",
    "questions?entry=order-dropped": "text=Asked or claimed in",
    "doctor": "text=x, as torch reads it",
    "quiz": "text=1 of 10",
}
PAGES = (
    "",
    "padding",
    "sorting",
    "packing",
    "running",
    "unpacking",
    "compare",
    "cost",
    "training",
    "questions",
    "questions?entry=order-dropped",
    "doctor",
    "quiz",
)


PHONES = [(page, PHONE, ("dark", "light")[i % 2]) for i, page in enumerate(PAGES[1:])]
FIRST = pytest.param("", PHONE, "dark", marks=pytest.mark.check)
OTHERS = [(page, PROJECTOR, scheme) for page in ("running", "compare") for scheme in ("dark", "light")]


@pytest.mark.parametrize(("page", "size", "scheme"), [FIRST, *PHONES, *OTHERS])
def test_nothing_serious_is_found_and_nothing_scrolls_sideways(
    browser: Browser, address: str, page: str, size: tuple[int, int], scheme: Any
) -> None:
    with visit(browser, address, path=page, size=size, scheme=scheme) as visited:
        visited.main.locator(LAST.get(page, "text=The numbers")).first.wait_for()
        visited.settle()
        assert visited.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        assert visited.main.evaluate("main => main.scrollWidth") <= size[0]
        found = Axe().run(visited.page).response["violations"]
    told = [
        f"{each['id']}: {node['target']} {node.get('failureSummary', '')}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
    assert told == []
