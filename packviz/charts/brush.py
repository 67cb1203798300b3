"""How each role of a movie's cells looks, in the player's places and colours."""

from collections.abc import Callable, Mapping
from functools import cached_property

from packviz.charts.geometry import Look, Rect
from packviz.charts.marks import READABLE, Drawn, Ink, Marks, Stroke, Tile, Word, advance, decimals, grown, number, tile
from packviz.charts.strokes import THREADS, WRONGS, boxed, curved
from packviz.charts.template import plain
from packviz.theme import CLEAR, mix, text_on

__all__ = ["Brush"]


class Brush(Ink):
    """Paint the cells of one frame, each role in its own way."""

    def paint(self, look: Look, rect: Rect) -> Marks:
        """Yield the marks of a cell that stands at this place."""
        return self.painters[look["role"]](look, rect)

    @cached_property
    def painters(self) -> Mapping[str, Callable[[Look, Rect], Marks]]:
        """Return how each role is painted."""
        return {
            "token": self._token,
            "ghost": self._ghost,
            "pad": self._pad,
            "value": self._value,
            "vector": self._vector,
            "output": self._output,
            "label": self._label,
            "axis": self._axis,
            "note": self._note,
            "title": self._title,
            "count": self._count,
            "bracket": self._bracket,
            "focus": self._focus,
            "ring": self._ring,
            "thread": self._thread,
            "mark": self._mark,
            "flag": self._flag,
        }

    def _token(self, look: Look, rect: Rect) -> Marks:
        fill = self.hue(look)
        yield Drawn("tokens", "", tile(rect, fill, mix(fill, self.palette.text, 0.35), self.tip(look)))
        if look.get("vec") and rect.h > 9 and not self.bare:
            head = max(14.0, rect.h * 0.36) if rect.h > 34 and look["text"] else min(3.0, rect.h * 0.12)
            side = min(3.5, rect.w * 0.12)
            if head > 10:
                yield from self.write(look, Rect(rect.x, rect.y, rect.w, head), text_on(fill), min(14.0, head * 0.8))
            inner = Rect(rect.x + side, rect.y + head, rect.w - 2 * side, rect.h - head - side)
            yield from self.stripes(look, inner)
        else:
            yield from self.write(look, rect, text_on(fill), min(18.0, rect.h * 0.4), strong=True)
        if self.movie["sequences"][look["seq"]][2] and rect.h >= 9:
            size = min(9.0, rect.h * 0.28)
            mark = Rect(rect.x + rect.w - size - 3, rect.y + 3, size, size)
            yield Drawn("stripes", "lap", Tile(*mark, text_on(fill), text_on(fill), 0))

    def _ghost(self, look: Look, rect: Rect) -> Marks:
        fill = mix(self.palette.background, self.hue(look), 0.3)
        yield Drawn("ground", "", tile(rect, fill, fill, self.tip(look)))
        yield from self.write(look, rect, mix(fill, self.palette.text, 0.78), min(18.0, rect.h * 0.4))

    def _pad(self, look: Look, rect: Rect) -> Marks:
        wrong = look["tone"] == "wrong"
        edge = self.palette.wrong if wrong else self.palette.pad_hatch
        tip = f"padding in sequence {self.letter(look)}: filler {plain(look['text'])}, not a token"
        yield Drawn("ground", "", tile(rect, self.palette.pad, edge, tip, 3 if wrong else 1))
        size = min(rect.h, rect.w) - 6
        if size > 8 and not self.bare:
            for i, share in enumerate((0.16, 0.84) if rect.w > 1.2 * rect.h else (0.5,)):
                short = size if rect.w <= 1.2 * rect.h else size * 0.6
                yield Drawn("hatch", str(i), Stroke(rect.x + rect.w * share, rect.y + rect.h / 2, short))
        middle = Rect(rect.x, rect.y, rect.w, rect.h * (0.44 if look.get("vec") and rect.h > 34 else 1))
        yield from self.write(look, middle, self.palette.wrong if wrong else self.palette.quiet, 15.0, strong=True)
        if look.get("vec") and rect.h > 34 and not self.bare:
            yield from self.stripes(look, Rect(rect.x + 5, rect.y + rect.h * 0.4, rect.w - 10, rect.h * 0.5))

    def _value(self, look: Look, rect: Rect) -> Marks:
        value = None if look["text"] else look.get("v")
        fill = self.ramp(value, look["scale"])
        tip = f"sequence {self.letter(look)}<br>{self.named(look)}: {plain(look['text']) or number(value)}"
        yield Drawn("numbers", "", tile(rect, fill, self.palette.line, tip))
        text = look["text"] or decimals(value, rect.w - 5)
        yield from self.write(look | {"text": text, "sub": ""}, rect, text_on(fill), min(15.0, rect.h * 0.36))

    def _vector(self, look: Look, rect: Rect) -> Marks:
        yield Drawn("numbers", "", tile(rect, self.palette.surface, self.palette.line, self.tip(look)))
        side = min(2.5, rect.h * 0.08)
        yield from self.stripes(look, Rect(rect.x + side, rect.y + side, rect.w - 2 * side, rect.h - 2 * side))

    def _output(self, look: Look, rect: Rect) -> Marks:
        fill = self.hue(look)
        yield Drawn("numbers", "", tile(rect, fill, mix(fill, self.palette.text, 0.35), self.tip(look)))
        side = min(3.5, rect.w * 0.12, rect.h * 0.16)
        inner = Rect(rect.x + side, rect.y + side, rect.w - 2 * side, rect.h - 2 * side)
        yield from self.stripes(look, inner)
        vec, step = look.get("vec") or (), inner.w / max(1, len(look.get("vec") or ()))
        if inner.w >= 1.8 * inner.h and step >= 28 and inner.h > READABLE + 2 and not self.bare:
            for i, value in enumerate(vec):
                ink = text_on(self.ramp(value, look["scale"]))
                spot = inner.x + (i + 0.5) * step, inner.y + inner.h / 2
                yield Drawn("words", f"n{i}", Word(*spot, decimals(value, step - 3), READABLE, ink))

    def _label(self, look: Look, rect: Rect) -> Marks:
        if round(look["y"]) % max(1, -(-15 // rect.h)):
            return
        size = max(16.0, min(rect.h * 0.62, 26.0))
        wide, fill = size * (0.6 + 0.4 * len(look["text"])), self.hue(look)
        chip = Rect(rect.x + (rect.w - wide) / 2, rect.y + (rect.h - size) / 2, wide, size)
        yield Drawn("tokens", "", Tile(*chip, fill, mix(fill, self.palette.text, 0.35), 1, f"sequence {look['text']}"))
        text = f"<b>{plain(look['text'])}</b>"
        yield Drawn("words", "", Word(*_middle(rect), text, round(size * 0.68, 1), text_on(fill)))

    def _axis(self, look: Look, rect: Rect) -> Marks:
        px = min(14.0, max(READABLE, self.unit * 0.32))
        across, down = -(-(advance(look["text"], px) + 7) // max(rect.w, 1)), -(-(px + 2) // max(rect.h, 1))
        if self.has_room(look, across if across > 1 else max(1, down)):
            yield Drawn("words", "", Word(*_middle(rect), self.said(look), px, self.toned(look, self.palette.quiet)))

    def _note(self, look: Look, rect: Rect) -> Marks:
        px = min(15.0, max(READABLE, self.unit * 0.32))
        if rect.h >= px or round(look["y"]) % -(-px // rect.h) == 0:
            spot = rect.x, rect.y + rect.h / 2
            ink = self.toned(look, self.palette.quiet)
            yield Drawn("words", "", Word(*spot, self.said(look), px, ink, "middle right"))

    def _title(self, look: Look, rect: Rect) -> Marks:
        px = min(14.5, max(13.0, self.unit * 0.34))
        spot, text = (rect.x, rect.y + self.unit * 0.4), f"<b>{plain(look['text'])}</b>"
        yield Drawn("words", "", Word(*spot, text, px, self.palette.text, "middle right"))

    def _count(self, look: Look, rect: Rect) -> Marks:
        ink, room = self.toned(look, self.palette.line), min(rect.h * 0.5, 22.0)
        bar = Rect(rect.x + rect.w * 0.16, rect.y, rect.w * 0.68, max(2.0, room * look["v"]))
        yield Drawn("ground", "", Tile(*bar, ink, ink, 0, f"batch_sizes[{look['k']}] = {plain(look['text'])}"))
        px = min(16.0, max(READABLE, self.unit * 0.36))
        if self.has_room(look, -(-(advance(look["text"], px) + 5) // max(rect.w, 1))):
            spot = rect.x + rect.w / 2, rect.y + room + px * 0.72
            text = f"<b>{plain(look['text'])}</b>"
            yield Drawn("words", "", Word(*spot, text, px, self.toned(look, self.palette.text)))

    def _bracket(self, look: Look, rect: Rect) -> Marks:
        ink, px = self.toned(look, self.palette.line), min(14.0, max(READABLE, self.unit * 0.32))
        thick = 2.0 if look["tone"] == "now" else 1.0
        top, foot = rect.y + rect.h * 0.72, rect.h * 0.24
        for slot, part in (
            ("top", Rect(rect.x + 2, top, rect.w - 4, thick)),
            ("left", Rect(rect.x + 2, top, thick, foot)),
            ("right", Rect(rect.x + rect.w - 2 - thick, top, thick, foot)),
        ):
            yield Drawn("ground", slot, Tile(*part, ink, ink, 0))
        spot = rect.x + rect.w / 2, rect.y + rect.h * 0.3
        yield Drawn("words", "", Word(*spot, self.said(look), px, self.toned(look, self.palette.quiet)))

    def _focus(self, look: Look, rect: Rect) -> Marks:
        del look
        yield Drawn("rings", "", Tile(*grown(rect, 2), CLEAR, self.palette.now, 2.5))

    def _ring(self, look: Look, rect: Rect) -> Marks:
        small = rect.h < 12
        yield Drawn("rings", "around", Tile(*rect, CLEAR, self.palette.text, 2 if small else 4))
        yield Drawn("rings", "hue", Tile(*rect, CLEAR, self.hue(look), 1 if small else 2.4))

    def _thread(self, look: Look, rect: Rect) -> Marks:
        for i, knot in enumerate(curved(rect)):
            yield Drawn(THREADS[self.movie["sequences"][look["seq"]][1]], str(i), knot)

    def _mark(self, look: Look, rect: Rect) -> Marks:
        small = rect.h < 12
        around = grown(rect, 0.5 if small else 1.5)
        yield Drawn("rings", "around", Tile(*around, CLEAR, self.palette.background, 3 if small else 6))
        if look["tone"] == "wrong":  # no bar has a dashed edge
            yield from (Drawn(WRONGS, str(i), knot) for i, knot in enumerate(boxed(around)))
        else:
            edge = self.toned(look, self.palette.now)
            yield Drawn("rings", "tone", Tile(*around, CLEAR, edge, 1.5 if small else 3))

    def _flag(self, look: Look, rect: Rect) -> Marks:
        true, hue, ground = look["text"] != "False", self.hue(look), self.palette.background
        fill = mix(ground, hue, 0.3) if true else self.palette.pad
        edge = mix(hue, self.palette.text, 0.35) if true else self.palette.pad_hatch
        yield Drawn("ground", "", tile(rect, fill, edge, self.tip(look)))
        fits = advance(look["text"], READABLE) < rect.w - 7
        ink = mix(fill, self.palette.text, 0.78) if true else self.palette.quiet
        short = look | {"text": look["text"] if fits else look["text"][0]}  # T or F
        yield from self.write(short, rect, ink, min(18.0, rect.h * 0.4), strong=true)


def _middle(rect: Rect) -> tuple[float, float]:
    return rect.x + rect.w / 2, rect.y + rect.h / 2
