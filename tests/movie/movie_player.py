"""The player as someone sees and steers it in a browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, expect
from tabs import Tab

__all__ = ["LISTEN", "Open", "Screen", "plain"]

LISTEN = """
    const write = CanvasRenderingContext2D.prototype.fillText;
    window.written = new Map();
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const { a, d, e, f } = this.getTransform(), wide = this.measureText(text).width * a;
        const left = x * a + e - { left: 0, center: wide / 2, right: wide }[this.textAlign];
        const [, weight, px] = this.font.match(/^(?:(bold|\\d+) )?([0-9.]+)px/);
        const high = Number(px) * d * 0.35, top = y * d + f - high, bottom = top + 2 * high;
        const told = { text, px: Number(px), weight: Number(weight ?? 400), left, right: left + wide, top, bottom };
        window.written.set([text, Math.round(left), Math.round(y * d + f)].join("|"), told);
        return write.call(this, text, x, y);
    };
"""  # what is written on the canvas, each text once at its place
SWEEP = """(canvas, every) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const tip = canvas.closest(".pv-stage").querySelector(".pv-tip");
    const point = (x, y) => new PointerEvent("pointermove", { clientX: left + x, clientY: top + y, bubbles: true });
    const seen = new Set();
    for (let y = every / 2; y < height; y += every) {
        for (let x = every / 2; x < width; x += every) {
            canvas.dispatchEvent(point(x, y));
            if (!tip.hidden) for (const line of tip.children) seen.add(line.textContent);
        }
    }
    canvas.dispatchEvent(new PointerEvent("pointerleave"));
    return [...seen];
}"""

PLACES = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players;
    const place = ({ rect, alpha }) => (alpha && rect ? [rect.x, rect.y, rect.w, rect.h] : null);
    return picture.shown.map(place);
}"""

Open = Callable[..., "Screen"]  # opens a movie's page at a step: see conftest.py


class Screen:
    """A browser tab with a player in it."""

    def __init__(self, tab: Tab, *, motion: bool) -> None:
        self.tab, self.page = tab, tab.page
        self.motion = motion
        self.address = ""

    def check(self) -> None:
        """Find that nothing went wrong here, that nothing popped up, and that nothing but the page was asked for."""
        assert [*self.tab.errors, *self.tab.warnings, *self.tab.dialogs] == []
        asked = {address.partition("#")[0] for address in self.tab.requests if not address.startswith("blob:")}
        assert asked == {self.address}

    def open(self, address: str) -> None:
        self.address = address.partition("#")[0]
        self.page.goto(address)
        self.root.wait_for()

    @property
    def root(self) -> Locator:
        return self.page.get_by_test_id("packviz-player")

    def data(self, name: str) -> str:
        return self.root.get_attribute(f"data-{name}") or ""

    @property
    def step(self) -> int:
        return int(self.data("step"))

    @property
    def painted(self) -> int:
        return int(self.data("painted"))

    @property
    def caption(self) -> str:
        return self.page.get_by_test_id("packviz-caption").inner_text()

    @property
    def tip(self) -> list[str]:
        """The lines of what the pointer shows; none if it shows nothing."""
        tip = self.root.locator(".pv-tip")
        return tip.locator("p").all_inner_texts() if tip.is_visible() else []

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def fill_the_window(self, *keys: str) -> None:
        """Go to full screen as where the browser has no API for it, as on an iPhone; press some keys there."""
        self.page.evaluate("() => { delete Element.prototype.requestFullscreen; }")
        self.press("f")
        expect(self.root).to_have_attribute("data-full", "")
        self.press(*keys)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name)

    def places(self) -> list[list[float] | None]:
        """Return where in the picture each cell stands; None if it is not seen."""
        return list(self.page.evaluate(PLACES))

    def picture(self) -> str:
        """Return what is painted, once nothing moves any more."""
        if self.motion:
            self.rest()
        return str(self.root.locator("canvas").evaluate("canvas => canvas.toDataURL()"))

    def rest(self) -> None:
        """Wait until the player has not painted for a while."""
        self.root.evaluate(
            """async root => {
                let seen;
                do {
                    seen = root.dataset.painted;
                    await new Promise(done => setTimeout(done, 120));
                    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); // a busy browser gives few
                } while (root.dataset.painted !== seen);
            }"""
        )

    def sweep(self, every: int = 16) -> set[str]:
        """Move a pointer over the whole picture and return every line that it was told."""
        return set(self.root.locator("canvas").evaluate(SWEEP, every))

    def edges(self) -> list[tuple[float, float]]:
        """Return the left and right edge of every control that can be seen."""
        boxes = """root => [...root.querySelectorAll("button, input, select")].map(node => node.getBoundingClientRect())
            .filter(box => box.width).map(box => [box.left, box.right])"""
        edges: list[tuple[float, float]] = self.root.evaluate(boxes)
        return edges


def plain(caption: str) -> str:
    """Return a caption as it reads on the screen."""
    return re.sub(r"\{([A-Z]+)\}", r"\1", caption).replace("**", "")
