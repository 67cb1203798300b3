"""The player as someone sees and steers it in a browser."""

import re

from playwright.sync_api import ConsoleMessage, Locator, Page

__all__ = ["Screen", "plain"]

SWEEP = """(canvas, every) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const tip = canvas.parentElement.querySelector(".pv-tip");
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


class Screen:
    """A browser tab with a player in it; `noise` is all that went wrong there, `requests` all that it asked for."""

    def __init__(self, page: Page, *, motion: bool) -> None:
        self.page = page
        self.motion = motion
        self.noise: list[str] = []
        self.requests: list[str] = []
        self.address = ""
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.noise.append(str(error)))
        page.on("dialog", lambda dialog: (self.noise.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url.partition("#")[0]))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.noise.append(message.text)

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
        """The lines of what the pointer shows; none where it shows nothing."""
        tip = self.root.locator(".pv-tip")
        return tip.locator("p").all_inner_texts() if tip.is_visible() else []

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def picture(self) -> str:
        """Return what is painted, once nothing moves any more."""
        if self.motion:
            self.rest()
        return self.root.locator("canvas").evaluate("canvas => canvas.toDataURL()")

    def rest(self) -> None:
        """Wait until the player has not painted for a while."""
        self.root.evaluate(
            """async root => {
                let seen;
                do { seen = root.dataset.painted; await new Promise(done => setTimeout(done, 120)); }
                while (root.dataset.painted !== seen);
            }"""
        )

    def sweep(self, every: int = 16) -> set[str]:
        """Move a pointer over the whole picture and return every line that it was told."""
        return set(self.root.locator("canvas").evaluate(SWEEP, every))

    def edges(self) -> list[tuple[float, float]]:
        """Return the left and right edge of every control that can be seen."""
        boxes = """root => [...root.querySelectorAll("button, input, select")].map(node => node.getBoundingClientRect())
            .filter(box => box.width).map(box => [box.left, box.right])"""
        return self.root.evaluate(boxes)


def plain(caption: str) -> str:
    """Return a caption as it reads on the screen."""
    return re.sub(r"\{([A-Z]+)\}", r"\1", caption).replace("**", "").replace(" %", "\N{NO-BREAK SPACE}%")
