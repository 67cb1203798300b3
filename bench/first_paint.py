"""From the first request of a fresh browser to the first painted grid, beside a plain app's first paint."""

import time
from statistics import median

from playwright.sync_api import Browser

from bench import servers
from bench.browser import fresh_page
from bench.report import Line, at_most

__all__ = ["first_paint", "measure"]

ROUNDS = 9
REST = 0.4  # seconds for a server to be done with the visitor before
GRID = 'Number(bench.find("[data-testid=packviz-player]")?.dataset.painted) >= 1'
TITLE = 'bench.find("h1")?.textContent === "hello"'


def first_paint(browser: Browser) -> list[Line]:
    """Visit both apps in turn, each time with an empty cache."""
    with servers.packviz() as ours, servers.plain() as theirs:
        for address, ready in ((ours, GRID), (theirs, TITLE)):  # nobody is the first visitor
            measure(browser, address, ready)
        pairs = [(measure(browser, ours, GRID), measure(browser, theirs, TITLE)) for _ in range(ROUNDS)]
    grids, titles = zip(*pairs, strict=True)
    grid, title = median(grids), median(titles)
    how = (
        f"{grid:.0f} ms ÷ {title:.0f} ms, medians of {ROUNDS} visits each in turns, warm servers, empty caches; "
        f"the fastest: {min(grids):.0f} ms ÷ {min(titles):.0f} ms"
    )
    return [Line("first painted grid ÷ first paint of a plain app", grid / title, at_most(1.35), how)]


def measure(browser: Browser, address: str, ready: str) -> float:
    """Return the ms from the start of the navigation until the frame in which `ready` holds is painted."""
    with fresh_page(browser, f"bench.first = bench.painted(() => {ready});") as page:
        page.goto(address, wait_until="commit")
        milliseconds = float(page.evaluate("bench.first"))
    time.sleep(REST)
    return milliseconds
