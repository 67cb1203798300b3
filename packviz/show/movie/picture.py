"""A frame of a movie as a picture: a list of shapes, written as SVG or drawn with Pillow."""

import textwrap
from collections.abc import Iterator, Sequence
from functools import cached_property
from html import escape
from types import SimpleNamespace as Cell
from typing import NamedTuple

from packviz.show.movie.staging import READABLE, Data, Rect, Staging, line_of
from packviz.show.theme import SEQUENCE_HUES, Palette, diverging, mix, text_on, with_contrast

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
WIDE = 0.6  # of its height is the width of a letter, about
OUTLINED = {"focus": 2.5, "ring": 3.0, "mark": 3.0}  # pixels


class Box(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    w: float
    h: float
    fill: str | None = None
    edge: str | None = None
    width: float = 1.0
    round: float = 0.0
    dashed: bool = False


class Text(NamedTuple):
    """A line of text; at: where x is in it, and y is its middle."""

    x: float
    y: float
    text: str
    px: float
    fill: str
    bold: bool = False
    at: str = "middle"


class Line(NamedTuple):
    """A line from point to point."""

    points: Sequence[tuple[float, float]]
    color: str
    width: float = 1.0


Shape = Box | Text | Line


class Picture:
    """The frames of a movie, from its data, as shapes; with what is said below them, they are `full` pixels high."""

    def __init__(self, data: Data, width: int, height: int, palette: Palette) -> None:
        self.data, self.palette, self.staging = data, palette, Staging(data, width, height)
        self.hues = [_hue(color, palette) for color in SEQUENCE_HUES]
        self.width, self.height = width, height

    @cached_property
    def captions(self) -> list[list[str]]:
        """The lines below each step: its caption, and what is to be known of the whole movie."""
        letters, steps = int(self.width / 8.5), self.data["steps"]
        about = " · ".join([self.data["title"], *self.data["notes"], self.data["proof"]])
        told = [f"{step['caption']} {step.get('error', '')}".translate(str.maketrans("", "", "{}*")) for step in steps]
        return [[*textwrap.wrap(text, letters), *textwrap.wrap(about, int(letters * 1.25))] for text in told]

    @property
    def full(self) -> int:
        """Pixels from top to bottom: all pictures of a movie are equally high."""
        return self.height + 14 + 22 * max(map(len, self.captions))

    def shapes(self, frame: int) -> list[Shape]:
        """Return a frame, counted from 0, as shapes in the order in which they are drawn."""
        number, scene, cells = self.staging.frames[frame]
        standing = self.staging.standing(scene)
        self._line = line_of(standing.unit, self.height)
        self._lettered = {cell.p for cell in cells if cell.role == "label"}
        self._now = {(cell.role, cell.p): cell.k for cell in cells if cell.shown and cell.tone == "now"}
        found: list[Shape] = [Box(0, 0, self.width, self.full, self.palette.background)]
        for cell in cells:
            if cell.shown and (rect := standing.rect(cell)):
                found += self._drawn(cell, rect)
        found += self._legend(sorted(self.staging.scales[scene]))
        wrapped = self.captions[number - 1]
        said = len(textwrap.wrap(self._plain(number), int(self.width / 8.5)))
        for i, line in enumerate(wrapped):
            big = i < said
            fill = self.palette.text if big else self.palette.quiet
            found.append(Text(14, self.height + 14 + 22 * i, line, 15 if big else 12, fill, at="start"))
        return found

    def _plain(self, number: int) -> str:
        step = self.data["steps"][number - 1]
        return f"{step['caption']} {step.get('error', '')}".translate(str.maketrans("", "", "{}*"))

    def _drawn(self, cell: Cell, rect: Rect) -> Iterator[Shape]:
        x, y, w, h = rect
        colors, middle = self.palette, y + h / 2
        fill, ink, edge, ghost = self.hues[self.data["sequences"][cell.seq][1]] if cell.seq is not None else ("",) * 4
        tone = {"now": colors.now, "good": colors.good, "wrong": colors.wrong}.get(cell.tone, "")
        if cell.role in ("token", "ghost", "output"):
            paint = ghost if cell.role == "ghost" else fill
            ink = colors.text if cell.role == "ghost" else ink
            yield _tile(rect, paint, None if cell.role == "ghost" else edge)
            yield from self._inside(cell, rect, ink)
        elif cell.role in ("vector", "value", "pad", "flag"):
            yield from self._plain_cell(cell, rect, tone)
        elif cell.role == "label" and round(cell.y) % max(1, -(-15 // h)) == 0:
            size = max(15.0, min(h * 0.66, 1.5 * self._line))
            wide = size * (0.6 + 0.4 * len(cell.text))
            yield Box(x + (w - wide) / 2, middle - size / 2, wide, size, fill, edge, round=5)
            yield from _fitted(cell.text, x + w / 2, middle, wide, 0.71 * size, ink, bold=True)
        elif cell.role in ("axis", "count"):
            yield from self._counted(cell, rect, tone)
        elif cell.role in ("title", "note") and h >= self._line * (cell.role == "note"):
            title = cell.role == "title"
            fill = colors.text if title else tone or colors.quiet
            wide = WIDE * self._line * len(cell.text)
            left = min(x, max(2.0, self.width - wide - 3))
            yield Text(
                left, y + 0.4 * h if title else middle, cell.text, self._line, fill, title or bool(tone), "start"
            )
        elif cell.role == "bracket":
            yield from _fitted(cell.text, x + w / 2, y + 0.3 * h, max(w, 26), self._line, tone or colors.quiet)
            corners = [
                (x + 2, y + 0.95 * h),
                (x + 2, y + 0.68 * h),
                (x + w - 2, y + 0.68 * h),
                (x + w - 2, y + 0.95 * h),
            ]
            yield Line(corners, tone or colors.line, 2 if tone else 1)
        elif cell.role == "thread":
            shares = [i / 16 for i in range(17)]
            yield Line([(x + w * s, y + h * s * s * (3 - 2 * s)) for s in shares], edge, 2.6)
        elif cell.role in OUTLINED:
            color = colors.text if cell.role == "ring" else tone or colors.now
            thick = OUTLINED[cell.role] / (2 if h < 12 else 1)
            box = Box(x + 1, y + 1, w - 2, h - 2, None, color, thick, min(6, h / 4), cell.tone == "wrong")
            yield box

    def _inside(self, cell: Cell, rect: Rect, ink: str) -> Iterator[Shape]:
        """Return what stands in a cell of a sequence: its numbers as stripes, its text, and its letter."""
        x, y, w, h = rect
        letter = self.data["sequences"][cell.seq][0]
        lettered = cell.p not in self._lettered and h >= 26 and not cell.text.startswith(letter)
        if cell.vec is not None and h > 9:
            head = max(13.0, 0.36 * h) if cell.text and h > 24 else 0.2 * h if lettered and h > 40 else 3.0
            yield from self._stripes(cell, Rect(x + 3, y + head, w - 6, h - head - 4))
            if cell.text and h > 24:
                yield from _fitted(cell.text, x + w / 2, y + head / 2 + 1, w - 6, 0.8 * head, ink, bold=True)
        elif h >= READABLE + 2:
            two = cell.sub and h > 36
            size, down = (
                min(0.62 * h, 0.42 * h if two else h, max(18.0, 0.4 * h)),
                0.39 if two else 0.55 if lettered else 0.5,
            )
            yield from _fitted(cell.text, x + w / 2, y + down * h, w - 6, size, ink, bold=cell.role == "token")
            if two:
                yield from _fitted(cell.sub, x + w / 2, y + 0.77 * h, w - 6, max(READABLE, 0.27 * h), ink)
        if lettered and (cell.vec is None or h > 40):
            yield Text(x + 4, y + 0.16 * h, letter, max(9.0, 0.2 * h), ink, at="start")

    def _plain_cell(self, cell: Cell, rect: Rect, tone: str) -> Iterator[Shape]:
        x, y, w, h = rect
        colors = self.palette
        fill, edge, ink = None, colors.line, colors.text
        if cell.role == "pad" or (cell.role == "flag" and cell.text == "False"):
            fill, edge, ink = colors.pad, tone or colors.pad_hatch, tone or colors.quiet
        elif cell.role == "flag":
            fill, ink, edge, _ = self.hues[self.data["sequences"][cell.seq][1]]
        elif cell.role == "value":
            fill = colors.pad if cell.text else self._ramp(cell.v, cell.scale)
            ink = text_on(fill)
        yield _tile(rect, fill, edge)._replace(dashed=fill == colors.pad)
        if cell.vec is not None and (cell.role == "vector" or h > 34):
            head = 0.0 if cell.role == "vector" else 0.36 * h
            yield from self._stripes(cell, Rect(x + 3, y + head + 2, w - 6, h - head - 4))
            y, h = y, head or h
        number = f"{cell.v / 1e4:.2f}".replace("-", "−") if cell.role == "value" else ""
        text = cell.text or number
        if text and h >= READABLE + 2:
            yield from _fitted(text, x + w / 2, y + h / 2, w - 7, min(0.62 * h, max(15.0, 0.4 * h)), ink)

    def _counted(self, cell: Cell, rect: Rect, tone: str) -> Iterator[Shape]:
        """Return the name of a time step, or an entry of batch_sizes with its bar; as many as there is room for."""
        x, y, w, h = rect
        axis, letters = cell.role == "axis", max(len(cell.text), 4 if cell.text.startswith("t=") else 2)
        every = max(1, -(-(WIDE * self._line * letters + 6) // max(w, 1)), axis and -(-self._line // max(h, 1)))
        most = min(0.5 * h, 22.0)
        if not axis:
            yield Box(x + 0.16 * w, y, 0.68 * w, max(2.0, most * cell.v / 1e4), tone or self.palette.line)
        apart = abs(cell.k - self._now.get((cell.role, cell.p), cell.k))
        if tone or (cell.k % every == 0 and not 0 < apart < every):
            color = tone or (self.palette.quiet if axis else self.palette.text)
            middle = y + (h / 2 if axis else most + 0.72 * self._line)
            yield Text(x + w / 2, middle, cell.text, self._line, color, bool(tone) or not axis)

    def _ramp(self, value: float | None, scale: str) -> str:
        if value is None:
            return self.palette.pad
        return diverging(value / 1e4 / self.data["scales"][scale], self.palette)

    def _stripes(self, cell: Cell, rect: Rect) -> Iterator[Shape]:
        values, across = self.data["numbers"][cell.vec], rect.w > 1.8 * rect.h
        for i, value in enumerate(values):
            begin, size = i / len(values), 1 / len(values)
            x, w = (rect.x + begin * rect.w, size * rect.w) if across else (rect.x, rect.w)
            y, h = (rect.y, rect.h) if across else (rect.y + begin * rect.h, size * rect.h)
            yield Box(x, y, w, h, self._ramp(value, cell.scale))

    def _legend(self, scales: list[str]) -> Iterator[Shape]:
        """Return what the colours of numbers mean: for each scale its two ends."""
        x, px = 14.0, self.staging.legend / 1.7
        y = self.height - self.staging.legend / 2
        for scale in scales:
            end = f"{self.data['scales'][scale]:.3g}"
            name = {"input": "x ", "state": "h and gates "}[scale] if len(scales) > 1 else ""
            for text, after in ((f"{name}−{end}", True), (f"+{end}", False)):
                yield Text(x, y, text, px, self.palette.quiet, at="start")
                x += WIDE * px * len(text) + 6
                if after:
                    yield from (Box(x + 8 * i, y - 5, 8, 10, diverging(i / 4.5 - 1, self.palette)) for i in range(10))
                    x += 86


def svg(picture: Picture, frame: int) -> str:
    """Return a frame as one SVG: text as text, and no word of a visitor as markup."""
    title = escape(f"{picture.data['title']}. {picture._plain(picture.staging.frames[frame][0])}")
    written = "".join(map(_written, picture.shapes(frame)))
    size = f'viewBox="0 0 {picture.width} {picture.full}" width="{picture.width}" height="{picture.full}"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">'
    return f"{start}<title>{title}</title>{written}</svg>"


def _written(shape: Shape) -> str:
    if isinstance(shape, Text):
        style = f'font-size="{shape.px:.4g}" text-anchor="{shape.at}" fill="{shape.fill}"'
        weight = ' font-weight="600"' if shape.bold else ""
        where = f'x="{shape.x:.5g}" y="{shape.y:.5g}" dominant-baseline="central"'
        return f'<text {where} {style}{weight} xml:space="preserve">{escape(shape.text)}</text>'
    if isinstance(shape, Line):
        points = " ".join(f"{x:.5g},{y:.5g}" for x, y in shape.points)
        return f'<polyline points="{points}" fill="none" stroke="{shape.color}" stroke-width="{shape.width:.3g}"/>'
    place = f'x="{shape.x:.5g}" y="{shape.y:.5g}" width="{max(0.0, shape.w):.5g}" height="{max(0.0, shape.h):.5g}"'
    edge = f' stroke="{shape.edge}" stroke-width="{shape.width:.3g}"' if shape.edge else ""
    more = (f' rx="{shape.round:.3g}"' if shape.round else "") + (' stroke-dasharray="3 2"' if shape.dashed else "")
    return f'<rect {place} fill="{shape.fill or "none"}"{edge}{more}/>'


def _tile(rect: Rect, fill: str | None, edge: str | None) -> Box:
    x, y, w, h = rect
    gap = min(2, 0.06 * w, 0.06 * h)
    round_ = min(6, 0.16 * h) if h > 12 and w > 12 else 0.0
    return Box(x + gap, y + gap, w - 2 * gap, h - 2 * gap, fill, edge if h > 7 else None, round=round_)


def _fitted(text: str, x: float, y: float, w: float, px: float, fill: str, *, bold: bool = False) -> Iterator[Text]:
    """Return a text as large as it fits, shortened at the smallest size; nothing where two letters have no room."""
    size = min(px, max(READABLE, w / (WIDE * max(1, len(text)))))
    most = int(w / (WIDE * size) + 0.2)
    if text and most >= min(2, len(text)):
        yield Text(x, y, text if len(text) <= most else f"{text[: most - 1]}…", size, fill, bold)


def _hue(color: str, palette: Palette) -> tuple[str, str, str, str]:
    """Return the fill of a sequence, the text on it, its edge, and the fill where a token was before."""
    edge = with_contrast(mix(color, palette.text, 0.2), palette.background, 3)
    return color, text_on(color), edge, mix(palette.background, color, 0.3)
