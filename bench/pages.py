"""The app in a browser: its first painted grid, and the repainted grid after an edit."""

import time
from contextlib import ExitStack
from statistics import median

from playwright.sync_api import Browser, Page

from bench import servers
from bench.browser import chromium, fresh_page
from bench.report import Measured

VISITS, EDITS = 9, 17
REST = 0.5  # seconds until server and page are idle
IMPORTS = ("torch", "plotly.graph_objects", "pandas")  # what our own app imports

PLAYER = 'bench.find("[data-testid=packviz-player]")'
GRID = f"Number({PLAYER}?.dataset.painted) >= 1"
TITLE = 'bench.find("h1")?.textContent === "hello"'
EDITED = f"""
const {{ dataset }} = {PLAYER}, {{ painted, cells }} = dataset;
window.answer = bench.answered(() => dataset.painted !== painted && dataset.cells !== cells);
"""
GREETED = 'window.answer = bench.answered(() => document.body.textContent.includes("Hello, %s."));'


def first_paint() -> list[Measured]:
    """First painted grid ÷ first paint of a plain Streamlit app, alternating, each with an empty cache."""
    with chromium() as browser, servers.packviz() as (ours, _), servers.plain() as (theirs, _):
        pairs = [(_visit(browser, ours, GRID), _visit(browser, theirs, TITLE)) for _ in range(VISITS + 1)]
    grids, titles = zip(*pairs[1:], strict=True)  # skip the first visit
    grid, title = median(grids), median(titles)
    how = (
        f"{grid:.0f} ms ÷ {title:.0f} ms, medians of {VISITS} alternating visits each, warm servers, empty caches; "
        f"the fastest: {min(grids):.0f} ms ÷ {min(titles):.0f} ms"
    )
    return [Measured("first painted grid ÷ first paint of a plain app", grid / title, how, at_most=1.2)]


def _visit(browser: Browser, address: str, ready: str) -> float:
    """Return the ms from the start of navigation until the frame in which `ready` holds has been painted."""
    with fresh_page(browser, f"bench.first = bench.painted(() => {ready});") as page:
        page.goto(address, wait_until="commit")
        milliseconds = float(page.evaluate("bench.first"))
    time.sleep(REST)
    return milliseconds


def rerun() -> list[Measured]:
    """Edit to repainted grid ÷ a plain app's rerun, alternating: ours, plain with our imports, plain and bare."""
    with chromium() as browser, ExitStack() as open_now:
        addresses = [
            open_now.enter_context(server)[0]
            for server in (servers.packviz(), servers.plain(*IMPORTS), servers.plain())
        ]
        pages = [open_now.enter_context(fresh_page(browser)) for _ in addresses]
        for page, address in zip(pages, addresses, strict=True):
            page.goto(address)
            page.get_by_role("textbox").first.wait_for()
        ours, *plain = pages
        rounds = [[_sequences(ours, i), *(_name(page, i) for page in plain)] for i in range(EDITS + 2)]
    grid, loaded, bare = (median(times) for times in zip(*rounds[2:], strict=True))
    compared = (
        ("edit to repainted grid ÷ a plain app's rerun, Streamlit's defaults", loaded, "has the same imports", 0.5),
        ("ours ÷ a plain app that imports nothing", bare, "is bare", None),
    )
    how = f"{{:.0f}} ms ÷ {{:.0f}} ms, medians of {EDITS} alternating edits each; the plain app {{}}"
    return [
        Measured(what, grid / plain, how.format(grid, plain, which), at_most)
        for what, plain, which, at_most in compared
    ]


def _sequences(page: Page, i: int) -> float:
    """Type a new batch, and return the ms until its grid is painted."""
    text = "\n".join([f"{i} 2 3", "4 5", "6 7 8 9", "10"][: 4 - i % 2])
    return _edit(page, text, EDITED, "Control+Enter")


def _name(page: Page, i: int) -> float:
    return _edit(page, f"number {i}", GREETED % f"number {i}", "Enter")


def _edit(page: Page, text: str, watch: str, key: str) -> float:
    page.get_by_role("textbox").first.fill(text)
    page.evaluate(f"() => {{ {watch} }}")
    page.keyboard.press(key)
    milliseconds = float(page.evaluate("window.answer"))
    time.sleep(REST)
    return milliseconds
