"""From an edit to the repainted grid, beside a plain app's rerun."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from statistics import median

from playwright.sync_api import Browser, Page

from bench import servers
from bench.browser import fresh_page
from bench.report import Line, at_most

__all__ = ["rerun"]

ROUNDS = 17
REST = 0.5  # seconds in which a page comes to rest after a rerun
IMPORTS = ("torch", "plotly.graph_objects", "pandas")  # what our own app has loaded
PLAYER = 'bench.find("[data-testid=packviz-player]")'
EDITED = f"""
const {{ dataset }} = {PLAYER}, {{ painted, cells }} = dataset;
window.answer = bench.answered(() => dataset.painted !== painted && dataset.cells !== cells);
"""
GREETED = 'window.answer = bench.answered(() => document.body.textContent.includes("Hello, %s."));'

Edit = Callable[[Page, int], float]


def rerun(browser: Browser) -> list[Line]:
    """Edit the text of three open apps in turn: ours, the plain one with what we import, and the plain one bare."""
    with ExitStack() as open_now:
        served = [servers.packviz(), servers.plain(*IMPORTS), servers.plain()]
        addresses = [open_now.enter_context(server) for server in served]
        pages = [open_now.enter_context(fresh_page(browser)) for _ in addresses]
        for page, address in zip(pages, addresses, strict=True):
            page.goto(address)
            page.get_by_role("textbox").first.wait_for()
        edits: list[Edit] = [_sequences, _name, _name]
        rounds = [[edit(page, i) for edit, page in zip(edits, pages, strict=True)] for i in range(ROUNDS + 2)]
    ours, loaded, bare = (median(times) for times in zip(*rounds[2:], strict=True))
    how = f"{{:.0f}} ms ÷ {{:.0f}} ms, medians of {ROUNDS} edits each in turns; the plain app {{}}"
    return [
        Line(
            "edit to repainted grid ÷ a plain app's rerun, Streamlit's defaults",
            ours / loaded,
            at_most(1.0),
            how.format(ours, loaded, "imports torch, plotly and pandas as ours does"),
        ),
        Line("the same ÷ a plain app that imports nothing", ours / bare, None, how.format(ours, bare, "is bare")),
    ]


def _sequences(page: Page, i: int) -> float:
    """Type a batch that nobody has typed before, and return the ms until its grid is painted."""
    page.get_by_role("textbox").first.fill("\n".join([f"{i} 2 3", "4 5", "6 7 8 9", "10"][: 4 - i % 2]))
    return _answer(page, EDITED, "Control+Enter")


def _name(page: Page, i: int) -> float:
    page.get_by_role("textbox").first.fill(f"number {i}")
    return _answer(page, GREETED % f"number {i}", "Enter")


def _answer(page: Page, watch: str, key: str) -> float:
    page.evaluate(f"() => {{ {watch} }}")
    page.keyboard.press(key)
    milliseconds = float(page.evaluate("window.answer"))
    time.sleep(REST)
    return milliseconds
