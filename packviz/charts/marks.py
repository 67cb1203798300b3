"""What the picture of a movie is made of: marks on layers, their colours and their words."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from packviz.charts.captions import LETTER, lines, shortened
from packviz.charts.geometry import Look, Rect
from packviz.charts.template import plain
from packviz.theme import SEQUENCE_HUES, Palette, diverging

__all__ = [
    "READABLE",
    "Drawn",
    "Ink",
    "Knot",
    "Marks",
    "Stroke",
    "Tile",
    "Word",
    "advance",
    "decimals",
    "family",
    "grown",
    "number",
    "tile",
]

READABLE = 12.0  # pixels of the smallest text


class Tile(NamedTuple):
    """A rectangle with a fill, an edge of some pixels, and what is told where one points at it."""

    x: float
    y: float
    w: float
    h: float
    fill: str
    edge: str
    line: float
    tip: str = ""


class Word(NamedTuple):
    """A text in the middle of x, y, or to the right of it."""

    x: float
    y: float
    text: str
    px: float
    color: str
    at: str = "middle center"


class Stroke(NamedTuple):
    """A slanting stroke of the hatching, in the middle of x, y."""

    x: float
    y: float
    px: float


class Knot(NamedTuple):
    """A point of a line; one without numbers (nan) ends it."""

    x: float
    y: float


class Drawn(NamedTuple):
    """A mark with its layer and with what tells it from the other marks of its cell."""

    layer: str
    slot: str
    mark: Tile | Word | Stroke | Knot


Marks = Iterator[Drawn]


class Ink:
    """Know the colours and the words of one frame. `unit` is a cell's height in pixels; `bare` leaves stripes out."""

    def __init__(
        self, movie: Mapping[str, Any], palette: Palette, unit: float, frame: Iterable[Look], *, bare: bool = False
    ) -> None:
        self.movie, self.palette, self.unit, self.bare = movie, palette, unit, bare
        self.nows = {family(look): look["k"] for look in frame if look["tone"] == "now" and look["shown"]}

    def hue(self, look: Look) -> str:
        """Return the hue of a cell's sequence."""
        return SEQUENCE_HUES[int(self.movie["sequences"][look["seq"]][1])]

    def letter(self, look: Look) -> str:
        """Return the letter of a cell's sequence."""
        return str(self.movie["sequences"][look["seq"]][0])

    def ramp(self, value: float | None, scale: str) -> str:
        """Return the colour of a number on one of the movie's scales; that of padding where there is no number."""
        return self.palette.pad if value is None else diverging(value / self.movie["scales"][scale], self.palette)

    def toned(self, look: Look, otherwise: str) -> str:
        """Return the colour of a cell's text: that of its tone, if it has one."""
        tones = {"now": self.palette.now, "good": self.palette.good, "wrong": self.palette.wrong}
        return tones.get(str(look["tone"]), otherwise)

    def said(self, look: Look) -> str:
        """Return a cell's text, strong where it has a tone."""
        return f"<b>{plain(look['text'])}</b>" if look["tone"] else plain(look["text"])

    def tip(self, look: Look) -> str:
        """Return what is told of a cell: which token it shows, and its numbers."""
        token, seq = look.get("token"), look.get("seq")
        if self.bare and look["role"] == "token" and not look["id"].startswith("token:"):
            return ""  # a cell that shows another token at each step would carry the tips of all
        head = [] if seq is None else [f"sequence {self.letter(look)}"]
        if (kind := look["id"].partition(":")[0]) in ("sorted", "unsorted"):
            return f"{kind}_indices[{look['k']}] = {plain(look['text'])}<br>{head[0]}"
        if token is not None:
            head = lines(self.movie["tokens"][token][3], 420, 14).split("<br>")
        numbers = [f"[{', '.join(map(number, look['vec']))}]"] if look.get("vec") and not self.bare else []
        return "<br>".join([*head, *numbers])

    def named(self, look: Look) -> str:
        """Return which number a cell of a single one shows."""
        kind, gate, *_ = look["id"].split(":")
        own = f"{gate} of {self.letter(look)}"
        names = {"hn": "h_n", "gate": own, "was": f"{own} before"}
        return f"{names.get(kind, 'h')}, unit {look['k']}"

    def write(self, look: Look, rect: Rect, color: str, px: float, *, strong: bool = False) -> Marks:
        """Yield a cell's text, and what stands below it, as far as they fit."""
        if rect.h < READABLE + 1:
            return
        two, px = bool(look["sub"]) and rect.h > 36, max(READABLE, px)
        text = shortened(look["text"], rect.w - 4, px) or shortened(look["text"], rect.w - 4, px := READABLE)
        if text:
            text = f"<b>{plain(text)}</b>" if strong else plain(text)
            middle = rect.y + rect.h * (0.36 if two else 0.5)
            yield Drawn("words", "", Word(rect.x + rect.w / 2, middle, text, round(px, 1), color))
        if two and (text := shortened(look["sub"], rect.w - 4, READABLE)):
            spot = rect.x + rect.w / 2, rect.y + rect.h * 0.76
            yield Drawn("words", "sub", Word(*spot, plain(text), READABLE, color))

    def stripes(self, look: Look, rect: Rect) -> Marks:
        """Yield a cell's numbers as stripes, side by side where it is wide."""
        if self.bare or not look.get("vec"):
            return
        across, count = rect.w > 1.8 * rect.h, len(look["vec"])
        step = (rect.w if across else rect.h) / count
        for i, value in enumerate(look["vec"]):
            fill, size = self.ramp(value, look["scale"]), max(0.6, step - (step > 8))
            part = (
                Rect(rect.x + i * step, rect.y, size, rect.h)
                if across
                else Rect(rect.x, rect.y + i * step, rect.w, size)
            )
            yield Drawn("stripes", f"v{i}", Tile(*part, fill, self.palette.line, 0))

    def has_room(self, look: Look, every: float) -> bool:
        """Return whether a label stands, where only each so many have room: what is now comes first."""
        now = self.nows.get(family(look), -(10**9))
        k, tone = int(look["k"]), str(look["tone"])
        return tone == "now" or (k % max(1, every) == 0 and abs(k - now) >= every)


def family(look: Look) -> str:
    """Return what cells of one kind share in their ids."""
    return str(look["id"]).rpartition(":")[0]


def tile(rect: Rect, fill: str, edge: str, tip: str, line: float = 1.0) -> Tile:
    """Return a rectangle with a small gap to its neighbours; without an edge where it is very flat."""
    gap = min(2.0, rect.w * 0.06, rect.h * 0.06)
    inner = Rect(rect.x + gap, rect.y + gap, max(0.5, rect.w - 2 * gap), max(0.5, rect.h - 2 * gap))
    return Tile(*inner, fill, edge, line if rect.h > 7 else 0.0, tip)


def grown(rect: Rect, by: float) -> Rect:
    """Return the rectangle with `by` pixels more on each side."""
    return Rect(rect.x - by, rect.y - by, rect.w + 2 * by, rect.h + 2 * by)


def number(value: float | None) -> str:
    """Return a number with a true minus sign; `nan` for None."""
    return "nan" if value is None else f"{value:g}".replace("-", "−")


def decimals(value: float | None, width: float) -> str:
    """Return a number with two decimals, or as many as there is room for; nothing where there is none."""
    if value is None:
        return ""
    for digits, widest in ((2, "−0.00"), (2, "−.00"), (1, "−.0")):
        if advance(widest, READABLE) <= width:  # all have room, or none
            text = f"{value:.{digits}f}".replace("-", "−")
            text = text if widest[1] == "0" else text.replace("0.", ".", 1)
            return text if advance(text, READABLE) <= width else ""
    return ""


def advance(text: str, px: float) -> float:
    """Return how wide a text is, about, in pixels."""
    return LETTER * px * len(text)
