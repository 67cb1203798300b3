"""The frames of a movie as still pictures: lists of shapes."""

import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from packviz.show.movie.frames import Cell, Data
from packviz.show.movie.legend import legend
from packviz.show.movie.lettering import fitted
from packviz.show.movie.staging import (
    LETTER,
    LINE,
    MEASURES,
    SMALL,
    TEXT,
    Rect,
    Shape,
    Staging,
    Strokes,
    Text,
    Tile,
    scaled,
    width_of_number,
)
from packviz.show.theme import SEQUENCE_HUES, Palette, diverging, mix, text_on, with_contrast

BAR, BRACKET, HATCH = (MEASURES[name] for name in ("bar", "bracket", "hatch"))  # as the player draws them
LABEL = 22  # pixels of the box of a letter beside its row
HEAD = 16  # pixels of a text above the numbers of a cell
LEGEND = 24  # pixels of the legend of the number colours


class Look(NamedTuple):
    """A visible cell, and what its picture depends on.

    tone      the colour that its tone stands for; "" for its own
    lettered  whether letters stand beside the rows of its panel
    now       the time step in focus there
    """

    cell: Cell
    rect: Rect
    tone: str
    lettered: bool
    now: int | None


class Picture:
    """Frames of a movie as shapes, from its data: the last one of a step, or all of them in one size.

    place   width and height, without the caption, that the cells are scaled to; the caption and the legend are not
    drawn   the numbers of the frames, counted from 0. full: the height including the caption
    """

    def __init__(self, data: Data, place: tuple[int, int], palette: Palette, step: int | None = None) -> None:
        self.width, self.height = place
        self.data, self.palette = data, palette
        self.staging = Staging(data, self.width, self.height - LEGEND)
        self.hues = [_hue(color, palette) for color in SEQUENCE_HUES]
        frames = self.staging.frames
        self.drawn = [i for i, frame in enumerate(frames) if step in (None, frame.step)][0 if step is None else -1 :]
        self.standings = {scene: self.staging.standing(scene) for scene in {frames[i].scene for i in self.drawn}}

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
        """The height in pixels, with room for the longest caption of the movie."""
        return self.height + 14 + 22 * max(map(len, self.captions))

    def shapes(self, frame: int) -> list[Shape]:
        """Return a frame, counted from 0, as shapes in drawing order."""
        number, scene, cells, _ = self.staging.frames[frame]
        standing = self.standings[scene]
        left, top, scale = standing.place
        lettered = {cell.p for cell in cells if cell.role == "label"}
        now = {(cell.role, cell.p): cell.k or 0 for cell in cells if cell.shown and cell.tone == "now"}
        tones = {"now": self.palette.now, "good": self.palette.good, "wrong": self.palette.wrong}
        found: list[Shape] = [Tile(0, 0, self.width, self.full, self.palette.background)]
        for cell in cells:
            if cell.shown and (rect := standing.rect(cell)):
                look = Look(cell, rect, tones.get(cell.tone, ""), cell.p in lettered, now.get((cell.role, cell.p)))
                for shape in ROLES[cell.role](self, look):
                    found += scaled(shape, left, top, scale)
        ends = {scale: self.data["scales"][scale] for scale in self.staging.scales(scene, standing.view)}
        found += legend(ends, self.height - LEGEND / 2, LEGEND / 1.7, self.palette)
        return [*found, *self.captions[number - 1]]

    def _token(self, look: Look) -> Iterator[Shape]:
        """Yield a token; triangles distinguish sequences of one hue: one per repetition of the hues, at most 3."""
        yield from self._output(look)
        _, ink, _, _ = self._hue(look.cell)
        size, count = 9, min(3, self.data["sequences"][look.cell.seq][2])
        corners = [(look.rect.x + look.rect.w - 3 - i * (size + 1), look.rect.y + 3) for i in range(count)]
        if count:
            yield Strokes([[(x, y), (x - size, y), (x, y + size)] for x, y in corners], ink, 0)

    def _output(self, look: Look) -> Iterator[Shape]:
        fill, ink, edge, _ = self._hue(look.cell)
        yield _tile(look.rect, fill, edge)
        yield from self._inside(look.cell, look.rect, ink, look.lettered)

    def _ghost(self, look: Look) -> Iterator[Shape]:
        """Yield the former place of a token."""
        yield _tile(look.rect, self._hue(look.cell)[3])
        yield from self._inside(look.cell, look.rect, self.palette.text, True)

    def _vector(self, look: Look) -> Iterator[Shape]:
        yield _tile(look.rect, None, self.palette.line)
        yield from self._stripes(look.cell, _inset(look.rect, side := min(2.5, 0.08 * look.rect.h), side))

    def _value(self, look: Look) -> Iterator[Shape]:
        (x, y, w, h), cell = look.rect, look.cell
        ground = self._ramp(None if cell.text else cell.v, cell.scale)
        yield _tile(look.rect, ground, self.palette.line)
        yield from fitted(cell.text or cell.sub or _number(cell.v), x + w / 2, y + h / 2, w, TEXT, text_on(ground))

    def _flag(self, look: Look) -> Iterator[Shape]:
        (x, y, w, h), colors, off = look.rect, self.palette, look.cell.text == "False"
        _, _, edge, pale = self._hue(look.cell)
        yield _tile(look.rect, colors.pad, colors.pad_hatch, dashed=True) if off else _tile(look.rect, pale, edge)
        yield from fitted(look.cell.text, x + w / 2, y + h / 2, w, TEXT, colors.quiet if off else colors.text)

    def _label(self, look: Look) -> Iterator[Shape]:
        """Yield the letter of a sequence beside its row."""
        (x, y, w, h), text = look.rect, look.cell.text
        fill, ink, edge, _ = self._hue(look.cell)
        wide = LABEL * (MEASURES["label"]["box"] + MEASURES["label"]["letter"] * len(text))
        yield Tile(x + (w - wide) / 2, y + h / 2 - LABEL / 2, wide, LABEL, fill, edge, round=5)
        yield from fitted(text, x + w / 2, y + h / 2, wide, TEXT, ink, bold=True)

    def _title(self, look: Look) -> Iterator[Shape]:
        x, y, _, h = look.rect
        yield Text(x, y + 0.4 * h, look.cell.text, LINE, self.palette.text, True, "start")

    def _note(self, look: Look) -> Iterator[Shape]:
        x, y, _, h = look.rect
        yield Text(x, y + h / 2, look.cell.text, LINE, look.tone or self.palette.quiet, bool(look.tone), "start")

    def _bracket(self, look: Look) -> Iterator[Shape]:
        x, y, w, h = look.rect
        yield from fitted(look.cell.text, x + w / 2, y + BRACKET["text"] * h, w, LINE, look.tone or self.palette.quiet)
        low, high, right = y + BRACKET["bottom"] * h, y + BRACKET["top"] * h, x + w - 2
        points = [(x + 2, low), (x + 2, high), (right, high), (right, low)]
        yield Strokes([points], look.tone or self.palette.line, 2 if look.tone else 1)

    def _thread(self, look: Look) -> Iterator[Shape]:
        x, y, w, h = look.rect
        points = [(x + w * s, y + h * s * s * (3 - 2 * s)) for s in (i / 16 for i in range(17))]
        yield Strokes([points], self.palette.background, 5)
        yield Strokes([points], self._hue(look.cell)[2], 2.6)

    def _focus(self, look: Look) -> Iterator[Shape]:
        x, y, w, h = look.rect
        yield Tile(x - 0.5, y - 0.5, w + 1, h + 1, None, self.palette.now, 2.5, 7)

    def _ring(self, look: Look) -> Iterator[Shape]:
        ring = Tile(*_inset(look.rect, 2, 2), None, self.palette.text, 3, 6)
        yield ring
        yield ring._replace(edge=self._hue(look.cell)[0], width=1.8)

    def _mark(self, look: Look) -> Iterator[Shape]:
        mark = Tile(*_inset(look.rect, 2, 2), None, self.palette.background, 4, 6)
        yield mark
        yield mark._replace(edge=look.tone or self.palette.now, width=3, dashed=look.cell.tone == "wrong")

    def _hue(self, cell: Cell) -> tuple[str, str, str, str]:
        return ("",) * 4 if cell.seq is None else self.hues[self.data["sequences"][cell.seq][1]]

    def _letter(self, cell: Cell, rect: Rect, ink: str) -> Text | None:
        """Return the sequence's letter in a cell that has room for it."""
        name = self.data["sequences"][cell.seq][0]
        crowded = LETTER * SMALL * len(f"{name} {cell.text}") + 8 > rect.w and cell.vec is None
        if crowded or cell.text.startswith(name):
            return None
        return Text(rect.x + 5, rect.y + 0.56 * SMALL + 2.5, name, SMALL, ink, True, "start")

    def _inside(self, cell: Cell, rect: Rect, ink: str, lettered: bool) -> Iterator[Shape]:
        """Yield the contents of a sequence's cell: its letter unless lettered, its text, and its numbers as stripes."""
        x, y, w, h = rect
        letter = None if lettered else self._letter(cell, rect, ink)
        reach = letter.x - x + 0.8 * SMALL * len(letter.text) if letter else 0.0
        size, down = float(TEXT), (0.39 if cell.sub else 0.5) + (0.09 if letter else 0)
        if cell.vec is not None:
            head = HEAD if cell.text or letter else 3.5
            yield from self._stripes(cell, _inset(rect, min(3.5, 0.12 * w), head))
            size, down = 0.75 * HEAD, HEAD / 2 / h
        if letter:
            yield letter
        yield from fitted(cell.text, x + (w + reach) / 2, y + down * h, w - reach, size, ink, bold=cell.role == "token")
        if cell.sub and cell.vec is None:
            yield from fitted(cell.sub, x + w / 2, y + 0.77 * h, w, SMALL, ink)

    def _pad(self, look: Look) -> Iterator[Shape]:
        """Yield a hatched cell with the padding's text, and its numbers as stripes."""
        cell, rect, tone = look.cell, look.rect, look.tone
        x, y, w, h = rect
        colors, inner = self.palette, cell.vec is not None
        yield _tile(rect, colors.pad, tone or colors.pad_hatch, dashed=not tone)._replace(width=3 if tone else 1)
        left, top, wide, high = _inset(rect, HATCH["inset"], HATCH["inset"])
        ends = [(d, min(d, wide), min(d, high)) for d in range(4, int(wide + high), HATCH["step"])]
        runs = [[(left + a, top + d - a), (left + d - b, top + b)] for d, a, b in ends]
        yield Strokes(runs, mix(colors.pad, colors.pad_hatch, HATCH["alpha"]), HATCH["line"])
        if inner:
            yield from self._stripes(cell, _inset(rect, min(5.0, 0.12 * w), HEAD))
        size, middle = (0.75 * HEAD, y + HEAD / 2) if inner else (0.9 * TEXT, y + h / 2)
        for text in fitted(cell.text, x + w / 2, middle, w, size, tone or colors.quiet, bold=True):
            free = min(w, LETTER * text.px * len(text.text) + 8)
            yield Tile(text.x - free / 2, middle - 0.62 * text.px, free, 1.24 * text.px, colors.pad)
            yield text

    def _counted(self, look: Look) -> Iterator[Shape]:
        """Yield the name of a time step, or an entry of batch_sizes with its bar, if there is room for it."""
        (x, y, w, h), cell, tone, now = look.rect, look.cell, look.tone, look.now
        axis, text, k = cell.role == "axis", cell.text, cell.k or 0
        every = -(-(LETTER * LINE * max(2, len(text)) + 6) // w)
        if axis and every > 1 and not tone and k:
            text = text.removeprefix("t=")  # in narrow columns only the first has it
            every = -(-(LETTER * LINE * max(2, len(text)) + 6) // w)
        most = min(0.5 * h, 22.0)
        if not axis:
            yield Tile(
                x + BAR["left"] * w, y, BAR["width"] * w, max(2.0, most * (cell.v or 0)), tone or self.palette.line
            )
        apart = 0 if now is None else abs(k - now)
        if tone or (k % every == 0 and not 0 < apart < every):
            color = tone or (self.palette.quiet if axis else self.palette.text)
            middle = y + (h / 2 if axis else most + 0.72 * LINE)
            yield Text(x + w / 2, middle, text, LINE, color, bool(tone) or not axis)

    def _ramp(self, value: float | None, scale: str) -> str:
        if value is None:
            return self.palette.pad
        return diverging(value / self.data["scales"][scale], self.palette)

    def _stripes(self, cell: Cell, rect: Rect) -> Iterator[Shape]:
        """Yield numbers as stripes; those of an output are written on them if they are wide enough."""
        (x, y, w, h), values = rect, cell.vec or ()
        step = w / len(values)
        for i, value in enumerate(values):
            color, thick = self._ramp(value, cell.scale), step - (1 if step > 8 else 0)
            yield Tile(x + i * step, y, thick, h, color)
            if width_of_number(cell):
                yield from fitted(_number(value), x + (i + 0.5) * step, y + h / 2, step, TEXT, text_on(color))


ROLES: Mapping[str, Callable[[Picture, Look], Iterator[Shape]]] = {
    "token": Picture._token,
    "ghost": Picture._ghost,
    "output": Picture._output,
    "pad": Picture._pad,
    "vector": Picture._vector,
    "value": Picture._value,
    "flag": Picture._flag,
    "label": Picture._label,
    "axis": Picture._counted,
    "count": Picture._counted,
    "title": Picture._title,
    "note": Picture._note,
    "bracket": Picture._bracket,
    "thread": Picture._thread,
    "focus": Picture._focus,
    "ring": Picture._ring,
    "mark": Picture._mark,
}


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:z.2f}".replace("-", "−")


def _inset(rect: Rect, side: float, top: float) -> Rect:
    return Rect(rect.x + side, rect.y + top, rect.w - 2 * side, rect.h - top - side)


def _tile(rect: Rect, fill: str | None, edge: str | None = None, *, dashed: bool = False) -> Tile:
    gap = min(2, 0.06 * rect.w, 0.06 * rect.h)
    round_ = min(6, 0.16 * rect.h) if min(rect.w, rect.h) > 12 else 0.0
    return Tile(*_inset(rect, gap, gap), fill, edge if rect.h > 7 else None, 1, round_, dashed)


def _hue(color: str, palette: Palette) -> tuple[str, str, str, str]:
    """Return a sequence's fill, text colour and edge, and the fill of a token's former place."""
    edge = with_contrast(mix(color, palette.text, 0.2), palette.background, 3)
    return color, text_on(color), edge, mix(palette.background, color, MEASURES["ghost"])
