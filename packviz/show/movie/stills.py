"""Frames of a movie as still pictures: lists of shapes. The player's own code paints them, in a JavaScript engine."""

import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from packviz.show.movie.engine import Engine
from packviz.show.theme import SEQUENCE_HUES, Palette


class Tile(NamedTuple):
    """A rectangle, in pixels; alpha: how opaque it is."""

    x: float
    y: float
    w: float
    h: float
    fill: str | None = None
    edge: str | None = None
    width: float = 1.0
    round: float = 0.0
    dashed: bool = False
    alpha: float = 1.0


class Text(NamedTuple):
    """A line of text; x is its middle, or its left end; y is its middle."""

    x: float
    y: float
    text: str
    px: float
    fill: str
    bold: bool = False
    left: bool = False
    alpha: float = 1.0


class Strokes(NamedTuple):
    """Lines of one kind, each from point to point."""

    lines: Sequence[Sequence[Mapping[str, float]]]
    edge: str
    width: float
    alpha: float = 1.0


class Area(NamedTuple):
    """What lines enclose."""

    lines: Sequence[Sequence[Mapping[str, float]]]
    fill: str
    alpha: float = 1.0


Shape = Tile | Text | Strokes | Area
KINDS: Mapping[str, type[Shape]] = {"tile": Tile, "text": Text, "lines": Strokes, "area": Area}


class Picture:
    """Frames of a movie as shapes, from its data: the last one of a step, or all of them in one size.

    place   width and height in pixels, without the caption. drawn: the numbers of the frames, counted from 0
    full    the height with the caption
    """

    def __init__(
        self, data: Mapping[str, Any], place: tuple[int, int], palette: Palette, step: int | None = None
    ) -> None:
        self.width, self.height = place
        self.data, self.palette = data, palette
        self.player = Engine(data)
        self.player.give("ems", ems)
        self.player.give("colours", _colours(palette))
        self.steps: list[int] = self.player.ask("(still = new stills.Still(movie, colours, ems)).steps")
        self.drawn = [i for i, number in enumerate(self.steps) if step in (None, number)][0 if step is None else -1 :]

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
        return [[Text(14, top + 22 * i, *line, left=True) for i, line in lines] for lines in numbered]

    @property
    def full(self) -> int:
        """The height in pixels, with room for the longest caption of the movie."""
        return self.height + 14 + 22 * max(map(len, self.captions))

    def shapes(self, frame: int) -> list[Shape]:
        """Return a frame, counted from 0, as shapes in drawing order."""
        ground = Tile(0, 0, self.width, self.full, self.palette.background)
        found = self.player.ask(f"still.shapes({frame}, {self.width}, {self.height})")
        painted = (KINDS[shape.pop("kind")](**shape) for shape in found)
        return [ground, *painted, *self.captions[self.steps[frame] - 1]]


def _colours(palette: Palette) -> dict[str, str]:
    """Return the colours by their names in the player's style sheet."""
    named = {name.replace("_", "-"): value for name, value in vars(palette).items()}
    return named | {"diverging": ",".join(palette.diverging), "hues": ",".join(SEQUENCE_HUES)}


def ems(text: str) -> float:
    """Return about how wide a text is, in multiples of its size: an M is wider than an i, and a mark has no width.

    A still is made without fonts, so widths are estimates.
    """
    return sum(
        0.0
        if unicodedata.combining(letter)
        else 1.0
        if letter in "MWmw@%…" or unicodedata.east_asian_width(letter) in "WF"
        else 0.68
        if letter.isupper()
        else 0.6
        for letter in text
    )
