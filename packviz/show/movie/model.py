"""What a movie is: cells, steps and scenes, as pure data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = [
    "CHANGEABLE",
    "NO_TOKEN",
    "Beat",
    "Cell",
    "Change",
    "CodeLine",
    "Numbers",
    "Place",
    "Role",
    "Scene",
    "Stage",
    "Step",
    "Tone",
    "View",
]

Stage = Literal["pad", "embed", "sort", "pack", "run", "unpack"]
Role = Literal[
    "token",  # one token of a sequence, in its hue
    "ghost",  # where a token stood before it was packed
    "pad",  # filler that pad_sequence or pad_packed_sequence put in
    "value",  # one number on the diverging scale
    "vector",  # a row of numbers as stripes on the diverging scale
    "output",  # the same, framed in the hue of its sequence
    "label",  # the letter of a sequence
    "axis",  # a small number or name beside a grid
    "note",  # a remark beside a row
    "title",  # the heading of a panel
    "count",  # one entry of batch_sizes, with its bar
    "bracket",  # the span of one time step in the packed strip
    "focus",  # the time step that is looked at
    "ring",  # a state after its last valid step
    "thread",  # the way of a row from one order to another: from its place, `w` to the right and `h` down, or up
    "mark",  # the outline around what is read: `now`, `good` or `wrong` by its tone
    "flag",  # True or False in a mask
]
Scale = Literal["input", "state"]
Tone = Literal["", "now", "good", "wrong"]
NO_TOKEN = -1  # where a cell that showed a token shows one no longer
Numbers = tuple[float | None, ...]  # None stands for NaN and infinities, which JSON lacks


@dataclass(frozen=True, slots=True)
class Place:
    """A position in the units of a panel: one unit is the height of a cell."""

    panel: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Cell:
    """Something drawn.

    id: constant from the first frame to the last. sequence: its number in the batch. token: index into
    `Movie.tokens`, the same for every cell that shows that token. value, vector: numbers on the scale `scale`.
    """

    id: str
    role: Role
    place: Place
    w: float = 1.0
    h: float = 1.0
    text: str = ""
    sub: str = ""
    sequence: int | None = None
    token: int | None = None
    value: float | None = None
    vector: Numbers | None = None
    scale: Scale = "state"
    tone: Tone = ""
    shown: bool = True

    @property
    def family(self) -> str:
        """The cells that are numbered together, such as the labels of one axis; the number ends the id."""
        return self.id.rpartition(":")[0]

    @property
    def number(self) -> int | None:
        """Its number in the family; None for one that has a name in its place."""
        last = self.id.rpartition(":")[2]
        return int(last) if last.isdigit() else None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, under the short names that the player reads."""
        place = {"p": self.place.panel, "x": _short(self.place.x), "y": _short(self.place.y)}
        fields: dict[str, Any] = {"role": self.role, **place}
        optional = {
            "w": (_short(self.w), 1),
            "h": (_short(self.h), 1),
            "text": (self.text, ""),
            "sub": (self.sub, ""),
            "seq": (self.sequence, None),
            "token": (None if self.token == NO_TOKEN else self.token, None),
            "v": (_short(self.value, 4), None),
            "vec": (self.vector, None),
            "scale": (self.scale, "state"),
            "tone": (self.tone, ""),
            "shown": (self.shown, True),
        }
        return fields | {name: value for name, (value, default) in optional.items() if value != default}


CHANGEABLE = ("place", "w", "h", "text", "sub", "token", "value", "vector", "scale", "tone", "shown")


@dataclass(frozen=True, slots=True)
class Change:
    """What one beat changes in one cell; None leaves a field as it is, and the token NO_TOKEN takes it away.

    origin: where the cell starts from on its way to its place, whatever it was before.
    """

    id: str
    place: Place | None = None
    w: float | None = None
    h: float | None = None
    text: str | None = None
    sub: str | None = None
    token: int | None = None
    value: float | None = None
    vector: Numbers | None = None
    scale: Scale | None = None
    tone: Tone | None = None
    shown: bool | None = None
    origin: Place | None = None

    def named(self) -> dict[str, Any]:
        """Return the fields that this change names."""
        return {name: value for name in CHANGEABLE if (value := getattr(self, name)) is not None}

    def to_dict(self, index: int) -> dict[str, Any]:
        """Return the named changes of the cell with this index, in the player's short names."""
        fields: dict[str, Any] = {"c": index}
        if self.place:
            fields |= {"p": self.place.panel, "x": _short(self.place.x), "y": _short(self.place.y)}
        if self.origin:
            fields["from"] = [self.origin.panel, _short(self.origin.x), _short(self.origin.y)]
        named = {
            "w": _short(self.w),
            "h": _short(self.h),
            "text": self.text,
            "sub": self.sub,
            "token": self.token,
            "v": _short(self.value, 4),
            "vec": self.vector,
            "scale": self.scale,
            "tone": self.tone,
            "shown": self.shown,
        }
        fields |= {name: value for name, value in named.items() if value is not None}
        return fields | {"token": None} if self.token == NO_TOKEN else fields


Beat = tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line of the program, and the shape of what it makes."""

    text: str
    shape: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the movie.

    caption: one or two plain sentences; `{A}` is the letter of a sequence, `**...**` is strong.
    code: index of the current line. detail: what happens within it. beats: changes, one beat after another.
    error: torch's own message, where it refuses. scene: where things stand in it, if not as in all of its stage.
    time: the time step t that it shows, if it shows one. name: by which others lead to it, if they do.
    """

    stage: Stage
    caption: str
    code: int
    beats: tuple[Beat, ...]
    detail: tuple[CodeLine, ...] = ()
    tone: Tone = ""
    error: str = ""
    time: int | None = None
    scene: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """Where each panel of a scene stands, in units, and where each strip goes on to a new line."""

    width: float
    height: float
    panels: Mapping[str, tuple[float, float]]
    breaks: Mapping[str, tuple[float, ...]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the player."""
        return {
            "w": _short(self.width),
            "h": _short(self.height),
            "at": {name: [_short(x), _short(y)] for name, (x, y) in self.panels.items()},
            "breaks": {name: [_short(x) for x in starts] for name, starts in self.breaks.items()},
        }


@dataclass(frozen=True, slots=True)
class Scene:
    """Where panels may stand, wide or tall as the screen is; of several ways the one with the largest cells wins."""

    wide: tuple[View, ...]
    tall: tuple[View, ...]


def _short(value: float | None, digits: int = 3) -> float | None:
    """Return a number with few decimals, and without a needless `.0`."""
    if value is None:
        return None
    rounded = round(value, digits)
    return int(rounded) if rounded == int(rounded) else rounded
