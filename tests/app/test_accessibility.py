"""axe-core, on every page: nothing serious and nothing critical in what is ours."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from visits import PHONE, PROJECTOR, visit

LAST = {
    "": "The same run in plain PyTorch",
    "compare": "Pads in other layers",
    "cost": "whatever runs on them",
    "training": "CC BY",
    "questions": "Argument 'input' must be Tensor",
    "questions?entry=order-dropped": "Asked or claimed in",
    "doctor": "x, as torch reads it",
    "quiz": "1 of 10",
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


@pytest.mark.parametrize(
    ("size", "scheme"),
    [(PROJECTOR, "light"), (PROJECTOR, "dark"), (PHONE, "dark")],
    ids=["projector-light", "projector-dark", "phone-dark"],
)
@pytest.mark.parametrize("path", PAGES)
def test_nothing_serious_is_found(
    browser: Browser, address: str, path: str, size: tuple[int, int], scheme: Any
) -> None:
    with visit(browser, address, path=path, size=size, color_scheme=scheme) as visited:
        visited.main.get_by_text(LAST.get(path, "The numbers")).wait_for()
        visited.settle()
        found = Axe().run(visited.page).response["violations"]
    told = [
        f"{each['id']}: {node['target']} {node.get('failureSummary', '')}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
    assert told == []
