"""A frame of a movie as a picture: a list of shapes, like those that the player paints."""

import re
import textwrap
from collections.abc import Iterator
from functools import cached_property

from packviz.show.movie.frames import Cell, Data
from packviz.show.movie.legend import legend
from packviz.show.movie.lettering import ems, fitted, letters_of_number
from packviz.show.movie.staging import (
    BADGE,
    LETTER,
    LETTERED,
    READABLE,
    Rect,
    Shape,
    Staging,
    Strokes,
    Text,
    Tile,
    largest_line,
    line_of,
    uncrowded,
)
from packviz.show.theme import SEQUENCE_HUES, Palette, diverging, mix, text_on, with_contrast

LOW = 22  # pixels of a cell that has no room for a text above its numbers, as in roles.js
THIN = 20  # pixels of a cell from which the line around it is 3 pixels wide, as in roles.js


class Picture:
    """The frames of a movie as shapes, from its data; `full` is their height including the caption."""

    def __init__(self, data: Data, width: int, height: int, palette: Palette) -> None:
        self.data, self.palette, self.staging = data, palette, Staging(data, width, height)
        self.hues = [_hue(color, palette) for color in SEQUENCE_HUES]
        self.width, self.height = width, height

    @cached_property
    def said(self) -> list[str]:
        """The caption of each step, with torch's own message if it refused."""
        texts = (f"{step['caption']} {step.get('error', '')}" for step in self.data["steps"])
        return [text.translate(str.maketrans("", "", "{}*")) for text in texts]

    @cached_property
    def captions(self) -> list[list[Text]]:
        """The lines below each step: its caption, and remarks on the whole movie."""
        letters, top = int(self.width / 8.5), self.height + 14
        about = " · ".join([self.data["title"], *self.data["notes"], self.data["proof"]])
        small = [(line, 12.0, self.palette.quiet) for line in textwrap.wrap(about, int(letters * 1.25))]
        large = ([(line, 15.0, self.palette.text) for line in textwrap.wrap(said, letters)] for said in self.said)
        numbered = (enumerate([*lines, *small]) for lines in large)
        return [[Text(14, top + 22 * i, *line, at="start") for i, line in lines] for lines in numbered]

    @property
    def full(self) -> int:
        """The height in pixels, the same for all pictures of a movie."""
        return self.height + 14 + 22 * max(map(len, self.captions))

    def shapes(self, frame: int) -> list[Shape]:
        """Return a frame, counted from 0, as shapes in drawing order."""
        number, scene, cells, _ = self.staging.frames[frame]
        standing = self.staging.standing(scene)
        self._unit, self._line = standing.unit, line_of(standing.unit, self.height)
        self._lettered = {cell.p for cell in cells if cell.role == "label"}
        self._longest = max((ems(cell.text) for cell in cells if cell.role == "token"), default=0.0)
        self._letters = min(filter(None, (letters_of_number(w - 7) for w in self.staging.numbers(scene))), default=5)
        self._now = {(cell.role, cell.p): cell.k or 0 for cell in cells if cell.shown and cell.tone == "now"}
        found: list[Shape] = [Tile(0, 0, self.width, self.full, self.palette.background)]
        placed = [(cell, rect) for cell in cells if cell.shown and (rect := standing.rect(cell))]
        for cell, rect in uncrowded(placed):
            found += self._drawn(cell, rect)
        ends = {scale: self.data["scales"][scale] for scale in sorted(self.staging.scales[scene])}
        found += legend(ends, self.height - self.staging.legend / 2, self.staging.legend / 1.7, self.palette)
        return [*found, *self.captions[number - 1]]

    def _drawn(self, cell: Cell, rect: Rect) -> Iterator[Shape]:
        x, y, w, h = rect
        colors, middle = self.palette, y + h / 2
        fill, ink, edge, ghost = self._hue(cell)
        tone = {"now": colors.now, "good": colors.good, "wrong": colors.wrong}.get(cell.tone, "")
        if cell.role in ("token", "ghost", "output"):
            moved = cell.role == "ghost"
            yield _tile(rect, ghost) if moved else _tile(rect, fill, edge)
            yield from self._inside(cell, rect, colors.text if moved else ink)
            yield from self._lap(cell, rect, ink) if cell.role == "token" else ()
        elif cell.role == "pad":
            yield from self._pad(cell, rect, tone)
        elif cell.role == "vector":
            yield _tile(rect, None, colors.line)
            yield from self._stripes(cell, _inset(rect, side := min(2.5, 0.08 * h), side))
        elif cell.role == "value":
            ground = self._ramp(None if cell.text else cell.v, cell.scale)
            yield _tile(rect, ground, colors.line)
            written = fitted(cell.text or cell.sub, x + w / 2, middle, w, self._size(h), text_on(ground))
            number = self._number(cell.v, x + w / 2, middle, w - 7, self._size(h), text_on(ground))
            yield from (written if cell.text or cell.sub else number) if h >= READABLE + 2 else ()
        elif cell.role == "flag":
            off = cell.text == "False"
            yield _tile(rect, colors.pad, colors.pad_hatch, dashed=True) if off else _tile(rect, ghost, edge)
            text = cell.text if LETTER * READABLE * len(cell.text) < w - 7 else cell.text[:1]  # T or F
            yield from fitted(text, x + w / 2, middle, w, self._size(h), colors.quiet if off else colors.text)
        else:
            yield from self._beside(cell, rect, tone)

    def _beside(self, cell: Cell, rect: Rect, tone: str) -> Iterator[Shape]:
        """Yield what is drawn beside the cells and around them."""
        x, y, w, h = rect
        colors, middle = self.palette, y + h / 2
        fill, ink, edge, _ = self._hue(cell)
        if cell.role == "label":
            size = max(LETTERED, min(BADGE, h), min(h * 0.66, 1.5 * self._line))
            wide = max(BADGE, size) * (0.6 + 0.4 * len(cell.text))
            yield Tile(x + (w - wide) / 2, middle - size / 2, wide, size, fill, edge, round=5)
            yield from fitted(cell.text, x + w / 2, middle, wide, max(READABLE, 0.79 * size), ink, bold=True)
        elif cell.role in ("axis", "count"):
            yield from self._counted(cell, rect, tone)
        elif cell.role in ("title", "note") and h >= self._line * (cell.role == "note"):
            title, px = cell.role == "title", self._line
            left = min(x, max(2.0, self.width - LETTER * px * len(cell.text) - 3))
            color = colors.text if title else tone or colors.quiet
            yield Text(left, y + 0.4 * h if title else middle, cell.text, px, color, title or bool(tone), "start")
        elif cell.role == "bracket":
            text = cell.text.removeprefix("t=") if LETTER * self._line * len(cell.text) > max(w, 33) else cell.text
            yield from fitted(text, x + w / 2, y + 0.3 * h, max(w, 33), self._line, tone or colors.quiet)
            low, high, right = y + 0.95 * h, y + 0.68 * h, x + w - 2
            points = [(x + 2, low), (x + 2, high), (right, high), (right, low)]
            yield Strokes([points], tone or colors.line, 2 if tone else 1)
        elif cell.role == "thread":
            points = [(x + w * s, y + h * s * s * (3 - 2 * s)) for s in (i / 16 for i in range(17))]
            yield from (Strokes([points], colors.background, 5), Strokes([points], edge, 2.6))
        elif cell.role == "focus":
            yield Tile(x - 0.5, y - 0.5, w + 1, h + 1, None, colors.now, 2.5, 7)
        elif cell.role in ("ring", "mark"):
            thick, wrong = 1.5 if h < BADGE else 2.0 if min(h, self._unit) < THIN else 3.0, cell.tone == "wrong"
            box = Tile(*_inset(rect, side := 0.5 + thick / 2, side), None, colors.text, thick, 1 if h < 12 else 6)
            ring = (box, box._replace(edge=fill, width=0.6 * thick))
            around = box._replace(edge=colors.background, width=max(1.5, thick + (thick > 1.5)))
            yield from ring if cell.role == "ring" else (around, box._replace(edge=tone or colors.now, dashed=wrong))

    def _hue(self, cell: Cell) -> tuple[str, str, str, str]:
        return ("",) * 4 if cell.seq is None else self.hues[self.data["sequences"][cell.seq][1]]

    def _lap(self, cell: Cell, rect: Rect, ink: str) -> Iterator[Shape]:
        """Yield triangles that distinguish sequences of one hue: one per repetition of the hues, at most 3."""
        size, count = min(9.0, 0.28 * rect.h), min(3, self.data["sequences"][cell.seq][2])
        corners = [(rect.x + rect.w - 3 - i * (size + 1), rect.y + 3) for i in range(count)]
        if count and rect.h >= 9:
            yield Strokes([[(x, y), (x - size, y), (x, y + size)] for x, y in corners], ink, 0)

    def _size(self, h: float) -> float:
        """Return the text size in pixels for a cell of this height: most of a small one, less of a large one."""
        return max(READABLE, min(0.62 * h, max(largest_line(self.height), 0.4 * h)))

    def _letter(self, cell: Cell, rect: Rect, ink: str) -> Text | None:
        """Return the sequence's letter in a cell that has room for it, if no letter is beside the row."""
        x, y, w, h = rect
        name, px, tall = self.data["sequences"][cell.seq][0], max(READABLE, 0.27 * h), h > 1.2 * w
        wide, above = LETTER * px * len(name), tall and cell.vec is None
        crowded = cell.text and not above and LETTER * READABLE * len(f"{name} {cell.text}") + 8 > w
        if crowded or cell.p in self._lettered or h < 26 or cell.text.startswith(name) or wide > w * (0.5 + tall / 4):
            return None
        if above:
            return Text(x + (w - wide) / 2, y + 0.27 * h, name, px, ink, True, "start")
        return Text(x + min(5, 0.12 * w), y + 0.56 * px + min(3, 0.06 * h), name, px, ink, True, "start")

    def _told(self, cell: Cell, w: float) -> str:
        """Return the text of a token, or its letter if there is none beside the row and no room for texts."""
        letters = cell.role != "output" and cell.p not in self._lettered and not self._wordy(w)
        return str(self.data["sequences"][cell.seq][0] if letters else cell.text)

    def _wordy(self, w: float) -> bool:
        """Return whether the longest word fits into a cell of this width."""
        return 1.12 * READABLE * self._longest <= w - min(7, 0.2 * w)

    def _inside(self, cell: Cell, rect: Rect, ink: str) -> Iterator[Shape]:
        """Yield the contents of a sequence's cell: its letter, its text, and below them its numbers as stripes."""
        x, y, w, h = rect
        text = self._told(cell, w)
        letter = self._letter(cell, rect, ink) if text == cell.text and cell.role != "ghost" else None
        two = cell.sub and h > 36 and text == cell.text
        reach = letter.x - x + 0.8 * letter.px * len(letter.text) if letter else 0.0
        size, down = self._size(h), (0.39 if two else 0.5) + (0.09 if letter else 0)
        if cell.vec is not None and h > 9:
            worded = text and h > (READABLE + 2 if self._wordy(w) or text != cell.text else 24)
            head = max(13.0, 0.36 * h) if worded else letter.px + 3 if letter else 0.0
            side = min(3.5, 0.12 * w, 0.16 * h)
            yield from self._stripes(cell, _inset(rect, side, min(max(head, side), h - side)))
            size, down = max(READABLE, 0.8 * head), (head / 2 + 1) / h
        elif letter and h > 1.2 * w:
            size, down, reach = min(size, 0.48 * h), 0.7, 0.0
        if letter:
            yield letter
        if size and h >= READABLE + 2:
            size, bold = min(size, 0.42 * h) if two else size, cell.role == "token"
            yield from fitted(text, x + (w + reach) / 2, y + down * h, w - reach, size, ink, bold=bold)
            if two and cell.vec is None:
                yield from fitted(cell.sub, x + w / 2, y + 0.77 * h, w, max(READABLE, 0.27 * h), ink)

    def _pad(self, cell: Cell, rect: Rect, tone: str) -> Iterator[Shape]:
        """Yield a hatched cell with the padding's text, and its numbers as stripes."""
        x, y, w, h = rect
        colors, inner, side = self.palette, cell.vec is not None and h > 9, min(5.0, 0.12 * w, 0.16 * h)
        head = side if h < LOW else max(13.0, 0.36 * h)
        yield _tile(rect, colors.pad, tone or colors.pad_hatch, dashed=not tone)._replace(width=3 if tone else 1)
        if h > 12:
            left, top, wide, high = _inset(rect, 3, 3)
            ends = [(d, min(d, wide), min(d, high)) for d in range(4, int(wide + high), 7)]
            runs = [[(left + a, top + d - a), (left + d - b, top + b)] for d, a, b in ends]
            yield Strokes(runs, mix(colors.pad, colors.pad_hatch, 0.42), 0.7)
        if inner:
            yield from self._stripes(cell, _inset(rect, side, head))
        size, middle = (max(READABLE, 0.8 * head), y + head / 2) if inner else (0.9 * self._size(h), y + h / 2)
        for text in fitted(cell.text, x + w / 2, middle, w, size, tone or colors.quiet, bold=True):
            if h >= (LOW if inner else READABLE + 2):
                free = min(w, LETTER * text.px * len(text.text) + 8)
                yield Tile(text.x - free / 2, middle - 0.62 * text.px, free, 1.24 * text.px, colors.pad)
                yield text

    def _counted(self, cell: Cell, rect: Rect, tone: str) -> Iterator[Shape]:
        """Yield the name of a time step, or an entry of batch_sizes with its bar, if there is room for it."""
        x, y, w, h = rect
        axis, letter, text, k = cell.role == "axis", LETTER * self._line, cell.text, cell.k or 0
        letters = max(len(text), 4 if text.startswith("t=") else 2)
        if letters == 4 and 4 * letter > w - 7 and max(2 * letter, 3 * letter - w / 2) + 4 < w:
            letters, text = 2, text if tone or not k else text[2:]  # in narrow columns only the first has `t=`
        every = max(1, -(-(letter * letters + 6) // max(w, 1)), axis and -(-self._line // max(h, 1)))
        most = min(0.5 * h, 22.0)
        if not axis:
            yield Tile(x + 0.16 * w, y, 0.68 * w, max(2.0, most * (cell.v or 0)), tone or self.palette.line)
        apart = abs(k - self._now.get((cell.role, cell.p), k))
        if tone or (k % every == 0 and not 0 < apart < every):
            color = tone or (self.palette.quiet if axis else self.palette.text)
            middle = y + (h / 2 if axis else most + 0.72 * self._line)
            yield Text(x + w / 2, middle, text, self._line, color, bool(tone) or not axis)

    def _ramp(self, value: float | None, scale: str) -> str:
        if value is None:
            return self.palette.pad
        return diverging(value / self.data["scales"][scale], self.palette)

    def _number(self, value: float | None, x: float, y: float, w: float, px: float, fill: str) -> Iterator[Text]:
        """Yield a number as large as fits, written as all numbers of the picture."""
        letters = letters_of_number(w, self._letters)
        if value is not None and letters:
            text = f"{value:z.{1 if letters == 3 else 2}f}".replace("-", "−")
            size = min(px, w / (LETTER * letters))
            yield from fitted(text if letters == 5 else re.sub("^(−?)0", r"\1", text), x, y, 4 * size, size, fill)

    def _stripes(self, cell: Cell, rect: Rect) -> Iterator[Shape]:
        """Yield numbers as stripes; those of an output are written on them if they fit."""
        (x, y, w, h), values = rect, cell.vec or ()
        step = w / len(values)
        written = cell.role == "output" and step >= 2 * READABLE and h >= 0.8 * READABLE
        for i, value in enumerate(values):
            color, thick = self._ramp(value, cell.scale), step - (1 if step > 8 else 0)
            yield Tile(x + i * step, y, thick, h, color)
            if written:
                yield from self._number(value, x + (i + 0.5) * step, y + h / 2, step - 4, self._size(h), text_on(color))


def _inset(rect: Rect, side: float, top: float) -> Rect:
    return Rect(rect.x + side, rect.y + top, rect.w - 2 * side, rect.h - top - side)


def _tile(rect: Rect, fill: str | None, edge: str | None = None, *, dashed: bool = False) -> Tile:
    gap = min(2, 0.06 * rect.w, 0.06 * rect.h)
    round_ = min(6, 0.16 * rect.h) if min(rect.w, rect.h) > 12 else 0.0
    return Tile(*_inset(rect, gap, gap), fill, edge if rect.h > 7 else None, 1, round_, dashed)


def _hue(color: str, palette: Palette) -> tuple[str, str, str, str]:
    """Return a sequence's fill, text colour and edge, and the fill of a token's former place."""
    edge = with_contrast(mix(color, palette.text, 0.2), palette.background, 3)
    return color, text_on(color), edge, mix(palette.background, color, 0.3)
