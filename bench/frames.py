"""Different painted frames a second while many labelled cells move, beside the same motion in Plotly frames."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page

from bench.browser import fresh_page
from bench.crowds import crowd, figure
from bench.report import Line, at_least

__all__ = ["Motion", "frames", "opened", "play", "play_there"]

PROMISED = {818: at_least(55.0), 3000: None}  # cells, and their frames a second
BESIDE_PLOTLY = at_least(2.5)
ROUNDS = 5
SCREEN = (1920, 1080)

OURS = """() => {
  const player = bench.find("[data-testid=packviz-player]");
  const forward = player.querySelector("[aria-label^='Step forward']");
  return bench.positions(() => forward.click(), () => player.dataset.painted);
}"""
THEIRS = """([frame, duration]) => {
  const plot = document.querySelector(".js-plotly-plot"), transition = { duration, easing: "cubic-in-out" };
  const options = { mode: "immediate", frame: { duration, redraw: false }, transition };
  const square = plot.querySelector(".points path"), text = plot.querySelector(".textpoint text");
  const position = () => square.getAttribute("transform") + text.getAttribute("x") + text.getAttribute("y");
  return bench.positions(() => Plotly.animate(plot, [frame], options), position);
}"""


@dataclass(frozen=True)
class Motion:
    """When each new frame of a motion was seen, in ms since it was asked for."""

    seen: tuple[float, ...]

    @property
    def lag(self) -> float:
        """Return the ms until something moved."""
        return self.seen[0]

    @property
    def lasts(self) -> float:
        """Return the ms until the last new frame."""
        return self.seen[-1]

    @property
    def rate(self) -> float:
        """Return how many new frames a second there were, from the press to the last one."""
        return 1000 * len(self.seen) / self.lasts


def frames(browser: Browser) -> list[Line]:
    """Move a crowd of each size, ours and Plotly's in turns; each page's first motion does not count.

    A new frame is one in which something stands elsewhere than in the frame before. In Chromium's own trace of these
    motions the compositor drew exactly as many.
    """
    lines = []
    for cells, promised in PROMISED.items():
        with opened(browser, cells) as (ours, theirs):
            first = play(ours)
            lasts = first.lasts - first.lag
            play_there(theirs, 1, lasts)
            pairs = [(play(ours), play_there(theirs, i % 2, lasts)) for i in range(ROUNDS)]
        motions, plotly = zip(*pairs, strict=True)
        rate, beside = _rate(motions), _rate(plotly)
        how = (
            f"median of {ROUNDS} motions of {lasts / 1e3:.2f} s; the first frame {_lag(motions):.0f} ms after the press"
        )
        lines.append(Line(f"different painted frames a second, {cells:,} cells move", rate, promised, how))
        what = f"the same ÷ the same motion in Plotly frames, {cells:,} cells"
        how = f"{rate:.1f} ÷ {beside:.1f} frames a second, in turns; Plotly's first after {_lag(plotly):.0f} ms"
        lines.append(Line(what, rate / beside, BESIDE_PLOTLY, how))
    return lines


@contextmanager
def opened(browser: Browser, cells: int) -> Iterator[tuple[Page, Page]]:
    """Open the crowd in the player, at half speed, and in Plotly."""
    with ExitStack() as open_now:
        folder = Path(open_now.enter_context(tempfile.TemporaryDirectory()))
        ours, theirs = (open_now.enter_context(fresh_page(browser, screen=SCREEN)) for _ in range(2))
        ours.goto(crowd(cells, ROUNDS + 2).save_html(folder / "film.html").as_uri())
        ours.get_by_label("Speed").select_option("0.5")
        figure(cells).write_html(folder / "plot.html", include_plotlyjs=True, auto_play=False)
        theirs.goto((folder / "plot.html").as_uri())
        theirs.locator(".textpoint").first.wait_for()
        yield ours, theirs


def play(page: Page) -> Motion:
    """Go one step on in the player and watch until all is still."""
    return _motion(page.evaluate(OURS))


def play_there(page: Page, frame: int, lasts: float) -> Motion:
    """Have Plotly go to a frame within `lasts` ms, and watch until all is still."""
    return _motion(page.evaluate(THEIRS, [str(frame), lasts]))


def _motion(seen: list[float]) -> Motion:
    if not seen:
        raise RuntimeError("the browser painted no motion")
    return Motion(tuple(seen))


def _rate(motions: tuple[Motion, ...]) -> float:
    return median(motion.rate for motion in motions)


def _lag(motions: tuple[Motion, ...]) -> float:
    return median(motion.lag for motion in motions)
