"""The position of everything in one frame of a movie, from its plain data, laid out like player/layout.js."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from packviz.show.movie.frames import Cell, Data, moments

MAX_UNIT, LOW, EDGE, READABLE, LETTERED, BADGE = 110, 600, 10, 11, 12.5, 15  # pixels, as in layout.js
LETTER, BOLD, NUMBER, NEAR, WORDY, WIDER, TIGHT = 0.6, 0.68, 4.1, 0.3, 1.6, 1.8, 0.77
NUMBERED = 0.9  # units: the least width of a number, as in layout.js
CLEAR = 1  # letters that would have room beside the text in a cell, as in layout.js
FEWER = 0.5  # the worth of a view without some of the panels, as in layout.js


class Tile(NamedTuple):
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
    """A line of text; at: the anchor of x; y is its middle."""

    x: float
    y: float
    text: str
    px: float
    fill: str
    bold: bool = False
    at: str = "middle"


class Strokes(NamedTuple):
    """Lines of one kind, each from point to point; width 0 fills the areas that they enclose."""

    runs: Sequence[Sequence[tuple[float, float]]]
    color: str
    width: float = 1.0


Shape = Tile | Text | Strokes


class Rect(NamedTuple):
    """A rectangle in pixels."""

    x: float
    y: float
    w: float
    h: float


class Arrangement(NamedTuple):
    """The positions of panels in a box measured in units, and the pitch and the lines of wrapped strips."""

    w: float
    h: float
    at: Mapping[str, Sequence[float]]
    breaks: Mapping[str, Sequence[float]] = MappingProxyType({})


@dataclass
class Inked:
    """What is ever visible in a panel, in units, like `Inked` in types.d.ts."""

    left: float = 1e9
    top: float = 1e9
    right: float = -1e9
    bottom: float = -1e9
    letters: float = 0
    whole: bool = False
    numbers: set[float] = field(default_factory=set)
    texts: dict[float, int] = field(default_factory=dict)


class Standing(NamedTuple):
    """A view on a picture: pixels per unit, the aspect ratio of a unit, its corner, the share of text."""

    view: Arrangement
    unit: float
    wide: float
    left: float
    top: float
    squeeze: float

    def rect(self, cell: Cell) -> Rect | None:
        """Return the rectangle of a cell; None if its panel is not in view."""
        if (at := self.view.at.get(cell.p)) is None:
            return None
        x, y, w, h = cell.x, cell.y, cell.w, cell.h
        w *= self.squeeze if x < -NEAR and w < WORDY else 1
        h *= self.squeeze if y < -NEAR and h < WORDY else 1
        x, y = before(x, self.squeeze), before(y, self.squeeze)
        if pitch_starts := self.view.breaks.get(cell.p):
            pitch, *starts = pitch_starts
            line = max(i for i, start in enumerate(starts) if i == 0 or start <= x + 1e-6)
            if line + 1 < len(starts) and x + w > starts[line + 1] + 1e-6:
                w = starts[line + 1] - x - 0.1
            x, y = x - starts[line], y + line * pitch
        across = self.unit * self.wide
        return Rect(self.left + (at[0] + x) * across, self.top + (at[1] + y) * self.unit, w * across, h * self.unit)


def before(place: float, squeeze: float) -> float:
    """Return the position of something before the cells: the unit next to them shrinks, and the rest moves along."""
    return place - max(-1.0, min(0.0, place)) * (1 - squeeze)


def line_of(unit: float, height: float) -> float:
    """Return the pixels of a line of text beside cells of this size, in a picture of this height."""
    return max(READABLE, min(max(0.44 * unit, min(TIGHT * unit, READABLE)), largest_line(height)))


def largest_line(height: float) -> float:
    """Return the pixels of the largest line of text."""
    return max(15.0, 0.042 * height)


class Staging:
    """The frames of a movie, from its data, in pictures of one size."""

    def __init__(self, data: Data, width: float, height: float) -> None:
        self.data, self.width, self.height = data, width, height
        self.legend = 1.7 * max(READABLE, min(14.0, 0.03 * height))  # pixels of the legend of the number colours
        self.frames = [*moments(data)][1:]
        self.scales: dict[str, set[str]] = {}  # of the numbers that are ever visible in a scene
        self._standings: dict[str, Standing] = {}
        self._inks: dict[str, dict[str, Inked]] = {}

    def standing(self, scene: str) -> Standing:
        """Return the view of a scene with the largest cells, centred in the picture."""
        if scene not in self._standings:
            ink, ways = self._ink(scene), self.data["scenes"][scene]
            room = self.height - (self.legend if self.scales[scene] else 0)
            wide = self.width / room > 1.12
            views = [Arrangement(*self.data["views"][i]) for i in ways[0 if wide else -1]]
            placed = {name for way in ways for i in way for name in self.data["views"][i][2]}
            letters = [(inked.letters, inked.whole) for name, inked in ink.items() if name in placed]
            wanted = BOLD * READABLE * max((each for each, _ in letters), default=0)
            needed = BOLD * READABLE * max((each for each, whole in letters if whole), default=0)
            many, best, worth = max(len(view.at) for view in views), None, 0.0
            for view in views:
                found = self._fitted(view, ink, room, wanted)
                across = found.unit * found.wide
                roomy = min(1.0, across / max(1.0, needed)) ** 2 * (FEWER if len(view.at) < many else 1.0)
                found_worth = min(found.unit, across) * (0.85 if across < wanted - 0.5 else 1) * roomy
                if best is None or found_worth > worth + 0.01:
                    best, worth = found, found_worth
            assert best
            self._standings[scene] = best
        return self._standings[scene]

    def numbers(self, scene: str) -> list[float]:
        """Return how wide the cells of a scene are that may have a number, in pixels."""
        view, unit, wide, *_ = self.standing(scene)
        return [w * unit * wide for name, inked in self._ink(scene).items() if name in view.at for w in inked.numbers]

    def _fitted(self, view: Arrangement, ink: dict[str, Inked], room: float, wanted: float) -> Standing:
        most = MAX_UNIT * max(1.0, self.height / LOW)
        left, top, right, bottom = 0.0, 0.0, view.w, view.h
        for again in (True, True, False):
            wide, high = (self.width - 2 * EDGE) / (right - left), (room - 2 * EDGE) / (bottom - top)
            even = min(wide, high, most)
            unit = min(high, max(even, min(READABLE / TIGHT, WIDER * even)))
            across = min(wide, max(even, min(wanted, WIDER * even)))
            squeeze = min(1.0, largest_line(self.height) / (0.44 * unit))
            if again:
                left, top, right, bottom = self._bounds(view, ink, unit, across, squeeze)
        corner = (self.width - (left + right) * across) / 2, (room - (top + bottom) * unit) / 2
        return Standing(view, unit, across / unit, *corner, squeeze)

    def _bounds(
        self, view: Arrangement, ink: dict[str, Inked], unit: float, across: float, squeeze: float
    ) -> tuple[float, float, float, float]:
        """Return the box around everything ever visible in a view, in units."""
        letter = LETTER * line_of(unit, self.height) / across
        left, top, right, bottom = view.w, view.h, 0.0, 0.0
        for name, (x, y) in view.at.items():
            if (box := ink.get(name)) is None:
                continue
            pitch, *starts = view.breaks.get(name, (0, 0))
            widest = max(end - start for start, end in zip(starts, [*starts[1:], box.right], strict=True))
            written = max((before(a, squeeze) + letter * n for a, n in box.texts.items()), default=-1e9)
            left = min(left, x + before(box.left, squeeze))
            top = min(top, y + before(box.top, squeeze))
            right = max(right, x + widest, min(x + written, view.w))
            bottom = max(bottom, y + box.bottom + pitch * (len(starts) - 1))
        return (left, top, right, bottom) if right > left and bottom > top else (0.0, 0.0, view.w, view.h)

    def _ink(self, scene: str) -> dict[str, Inked]:
        """Return what is ever visible in each panel."""
        if scene in self._inks:
            return self._inks[scene]
        panels = self._inks[scene] = dict[str, Inked]()
        scales = self.scales[scene] = set[str]()
        seen = set[int]()
        for frame in (frame for frame in self.frames if frame.scene == scene):
            for cell in frame.cells:
                if not cell.shown or id(cell) in seen:
                    continue
                seen.add(id(cell))
                if cell.role == "value" or (cell.vec is not None and cell.role != "label"):
                    scales.add(cell.scale)
                box = panels.setdefault(cell.p, Inked())
                words = len(cell.text) if cell.role in ("token", "ghost") else 0
                step = cell.w if cell.role == "value" else 0.0  # of a number on its stripe
                if cell.role == "output" and cell.vec:
                    step = cell.w / len(cell.vec)
                numbered = step >= NUMBERED and not cell.text and not cell.sub
                inside = NUMBER * cell.w / step if numbered or cell.role == "value" else words and words + CLEAR
                if inside:  # a vertical thread has no width
                    box.letters = max(box.letters, inside / cell.w)
                box.whole |= cell.role in ("label", "value")
                if numbered:
                    box.numbers.add(step)
                box.left, box.top = min(box.left, cell.x), min(box.top, cell.y, cell.y + cell.h)
                box.bottom = max(box.bottom, cell.y, cell.y + cell.h)
                if cell.role in ("title", "note"):
                    box.texts[cell.x] = max(box.texts.get(cell.x, 0), len(cell.text))
                else:
                    box.right = max(box.right, cell.x + cell.w)
        return panels


def uncrowded(placed: list[tuple[Cell, Rect]]) -> Iterator[tuple[Cell, Rect]]:
    """Yield the cells but for the letters of low rows that are too near to the one above."""
    middles = dict[tuple[str, float], float]()  # of the last letter that is drawn, by panel and column
    crowded = set[int]()
    labels = [(rect.y + rect.h / 2, rect.h, i) for i, (cell, rect) in enumerate(placed) if cell.role == "label"]
    for middle, h, i in sorted(labels):
        column = placed[i][0].p, placed[i][0].x
        if h < LETTERED and 1 < middle - middles.get(column, -LETTERED) < LETTERED - 0.5:
            crowded.add(i)
        else:
            middles[column] = middle
    return (each for i, each in enumerate(placed) if i not in crowded)
