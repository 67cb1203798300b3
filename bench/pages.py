"""The app in a browser: its first painted grid, the repainted grid after an edit, and the player's frame rate."""

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import torch
from playwright.sync_api import Browser, Page

import packviz as pv
from bench import servers
from bench.browser import chromium, fresh_page
from bench.report import Line

VISITS, EDITS, MOTIONS = 9, 17, 5
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
MOVE = f"""() => {{
  const player = {PLAYER}, forward = player.querySelector("[aria-label^='Step forward']");
  return bench.positions(() => forward.click(), () => player.dataset.painted);
}}"""


def first_paint() -> list[Line]:
    """First painted grid ÷ first paint of a plain Streamlit app, alternating, each with an empty cache."""
    with chromium() as browser, servers.packviz() as (ours, _), servers.plain() as (theirs, _):
        pairs = [(_visit(browser, ours, GRID), _visit(browser, theirs, TITLE)) for _ in range(VISITS + 1)]
    grids, titles = zip(*pairs[1:], strict=True)  # skip the first visit
    grid, title = median(grids), median(titles)
    how = (
        f"{grid:.0f} ms ÷ {title:.0f} ms, medians of {VISITS} alternating visits each, warm servers, empty caches; "
        f"the fastest: {min(grids):.0f} ms ÷ {min(titles):.0f} ms"
    )
    return [Line("first painted grid ÷ first paint of a plain app", grid / title, how, at_most=1.2)]


def _visit(browser: Browser, address: str, ready: str) -> float:
    """Return the ms from the start of navigation until the frame in which `ready` holds has been painted."""
    with fresh_page(browser, f"bench.first = bench.painted(() => {ready});") as page:
        page.goto(address, wait_until="commit")
        milliseconds = float(page.evaluate("bench.first"))
    time.sleep(REST)
    return milliseconds


def rerun() -> list[Line]:
    """Edit to repainted grid ÷ a plain app's rerun, alternating: ours, minimal, plain with our imports, bare."""
    with chromium() as browser, ExitStack() as open_now:
        served = [servers.packviz(), servers.least(), servers.plain(*IMPORTS), servers.plain()]
        addresses = [open_now.enter_context(server)[0] for server in served]
        pages = [open_now.enter_context(fresh_page(browser)) for _ in addresses]
        for page, address in zip(pages, addresses, strict=True):
            page.goto(address)
            page.get_by_role("textbox").first.wait_for()
        pictures, plain = pages[:2], pages[2:]
        rounds = [
            [*(_sequences(page, i) for page in pictures), *(_name(page, i) for page in plain)] for i in range(EDITS + 2)
        ]
    grid, least, loaded, bare = (median(times) for times in zip(*rounds[2:], strict=True))
    same = "imports torch, plotly and pandas as ours does"
    compared = (
        ("edit to repainted grid ÷ a plain app's rerun, Streamlit's defaults", grid, loaded, same, 0.5),
        ("the same of a fragment with nothing but a text and a component", least, loaded, same, None),
        ("ours ÷ a plain app that imports nothing", grid, bare, "is bare", None),
    )
    how = f"{{:.0f}} ms ÷ {{:.0f}} ms, medians of {EDITS} alternating edits each; the plain app {{}}"
    return [
        Line(what, ours / theirs, how.format(ours, theirs, beside), at_most)
        for what, ours, theirs, beside, at_most in compared
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


def frames() -> list[Line]:
    """Painted frames per second while the player sorts a batch at half speed; the first motion is skipped.

    A new frame is one in which something has moved since the frame before. In Chromium's own trace of these motions the
    compositor drew exactly as many.
    """
    with chromium() as browser:
        return [_frames(browser, 14, 12, 55.0), _frames(browser, 31, 20, None)]


def _frames(browser: Browser, rows: int, longest: int, target: float | None) -> Line:
    lengths = sorted(longest - b % 2 for b in range(rows))  # the shorter half first, so that sorting moves every row
    batch = pv.Batch.from_tensors([torch.ones(length) for length in lengths])
    movie = pv.movie(pv.trace(batch), stages=("sort",))
    with tempfile.TemporaryDirectory() as folder, fresh_page(browser, screen=(1920, 1080)) as page:
        page.goto(movie.save(Path(folder) / "movie.html").as_uri())
        page.get_by_label("Speed").select_option("0.5")
        motions = list[list[float]]()  # of each motion, when every new frame was seen, in ms since the press
        for _ in range(MOTIONS + 1):
            motions.append(page.evaluate(MOVE))
            page.locator("[aria-label^='Step back']").click()
            time.sleep(3)
        cells = page.get_by_test_id("packviz-player").get_attribute("data-cells")
    how = (
        f"median of {MOTIONS} motions of {motions[-1][-1] / 1e3:.2f} s; "
        f"the first frame {median(seen[0] for seen in motions[1:]):.0f} ms after the press"
    )
    rate = median(1000 * len(seen) / seen[-1] for seen in motions[1:])
    return Line(f"different painted frames per second, {cells} cells sorted", rate, how, at_least=target)
