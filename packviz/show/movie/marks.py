"""What a frame shows: groups of marks of one kind, each stored as columns; and a step: its frames and its texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from packviz.show.movie.format import Cell, LookData, Role
from packviz.show.movie.layout import Column, Place, Scene
from packviz.show.movie.written import scaled

Stage = str  # its name, as listed in kinds.py
Tip = tuple[tuple[str, ...], ...]  # for each line its wordings: the first whose blanks can all be filled is shown

NONE = -1  # in a column of numbers: no token, no row of numbers
DEFAULTS: Mapping[str, Column] = {  # of the fields that may change
    **{
        field: usual
        for field, usual in Cell._field_defaults.items()
        if field in LookData.__annotations__ and field != "shown"
    },
    "token": NONE,
    "v": 0.0,
    "vec": NONE,
}

_ALONG = frozenset({"axis", "count", "bracket"})  # roles that belong to time steps
_SILENT = frozenset({"focus", "ring", "title", "thread", "mark"})  # roles without a tooltip
_FIRST = {
    "pad": "padding in sequence {seq}: {text} fills the row and is not a token",
    "count": "batch_sizes[{k}] = {text}",
}


@dataclass(slots=True, eq=False)  # not frozen: there are hundreds, and a frozen one takes seven times as long to create
class Marks:
    """A group of marks of one kind in one frame.

    name: the same in every frame. keys: columns that identify its marks. look: what may change, a column for each of
    DEFAULTS: panel `p`, place, size, texts, the number of its token, the value `v` in ten-thousandths, `vec` the row in
    the movie's numbers, scale and tone. seq: the sequence of each mark. tip: the tooltip. shown: which of them are
    visible. origin: where new ones come from, or, if anew, all of them. In a film, a column may hold one line per
    frame, or one line for each frame in `lines`, the frames at which it changes.
    """

    name: str
    role: Role
    keys: tuple[Any, ...]
    look: Mapping[str, Column]
    seq: Column | None
    tip: Tip
    shown: Any = True
    origin: Place | None = None
    anew: Any = False
    lines: Sequence[int] | None = None

    @property
    def count(self) -> int:
        """The number of marks in the group."""
        return len(self.keys[0]) if self.keys else 1

    @property
    def ids(self) -> Iterator[str]:
        """The name of each mark: the name of the group and its keys."""
        if not self.keys:
            return iter((self.name,))
        return (":".join((self.name, *map(str, key))) for key in zip(*self.keys, strict=True))

    @property
    def moving(self) -> dict[str, np.ndarray]:
        """The columns that have a line for each frame of a film, by name."""
        columns = {**self.look, "shown": self.shown}
        return {name: each for name, each in columns.items() if isinstance(each, np.ndarray) and each.ndim == 2}

    def at(self, lines: Any) -> "Marks":
        """Return the group in one frame of a film, or in several."""
        moved = {name: column[lines] for name, column in self.moving.items()}
        return self.but(**moved) if moved or self.origin else self

    def but(
        self,
        place: Place | None = None,
        *,
        shown: Any = None,
        origin: Place | None = None,
        anew: Any = False,
        **look: Column,
    ) -> "Marks":
        """Return the same marks with a changed look; they have no origin unless one is given."""
        if place is not None:
            look |= {"p": place.panel, "x": place.x, "y": place.y}
        shown = self.shown if shown is None else shown
        changed = {**self.look, **look} if look else self.look
        return Marks(self.name, self.role, self.keys, changed, self.seq, self.tip, shown, origin, anew)


def marks(
    name: str,
    role: Role,
    place: Place,
    *keys: Column,
    seq: Column | None = None,
    owned: bool = True,
    says: str = "",
    shown: Any = True,
    origin: Place | None = None,
    anew: bool = False,
    **look: Column,
) -> Marks:
    """Return a group of marks; says: the meaning of a value, for the tooltip, or after `!` the whole tooltip.

    seq: the sequence of each, by default their first key, unless their role belongs to time steps; owned: False if no
    sequence has them. The blanks of a line: seq and k are a mark's sequence and number, token is the description of its
    token.
    """
    look = {**DEFAULTS, "p": place.panel, "x": place.x, "y": place.y, **look}
    if keys and seq is None and owned and role not in _ALONG:
        seq = keys[0]
    tip: Tip = ()
    if says.startswith("!"):
        tip = (says[1:],), ("sequence {seq}",)
    elif role not in _SILENT:
        first = ("{token}", _FIRST.get(role, "sequence {seq}"))
        tip = first, (": ".join(filter(None, (says, "{vec}" if role == "vector" or not says else "{number}"))),)
    return Marks(name, role, keys, look, seq, tip, shown, origin, anew)


def title(place: Place, text: Column, **look: Column) -> Marks:
    """Return the heading of a panel."""
    return marks(f"title:{place.panel}", "title", place, text=text, **look)


Frame = dict[str, Marks]  # by name, in drawing order


def frame(*groups: Marks) -> Frame:
    """Return a frame of the non-empty groups."""
    return {each.name: each for each in groups if each.count}


def filmed(groups: Frame, lines: Sequence[int]) -> Frame:
    """Return groups of a film; those that change do so only at the given frames, with a line for each."""
    return {name: replace(group, lines=lines) if group.moving else group for name, group in groups.items()}


def with_numbers(group: Marks, values: np.ndarray, text: Column = "") -> Marks:
    """Return a group with these numbers, (marks,) or (frames, marks); one that is not finite is written "nan".

    text: what is written instead of a number, if it is not empty.
    """
    known, v = np.isfinite(values), scaled(np.nan_to_num(values, posinf=0.0, neginf=0.0))
    return group.but(v=v, text=text if known.all() else np.where((text == "") & ~known, "nan", text).astype(object))


class CodeLine(NamedTuple):
    """One line of the program, and the shape of its result."""

    text: str
    shape: str = ""


class Step(NamedTuple):
    """One step of a stage.

    caption: one or two plain sentences; `{A}` is the letter of a sequence, `**...**` is bold. frames: what is shown, in
    order. detail: the lines of code that run within it. error: torch's own message if it refuses. scene: a name and a
    layout, if not that of its stage. time: the time step t that it shows, if any. name: for links to it, if any. stage,
    beats: its stage and number of frames, set in a movie, which keeps no frames.
    """

    caption: str
    frames: tuple[Frame, ...] = ()
    detail: tuple[CodeLine, ...] = ()
    tone: Literal["", "wrong"] = ""
    error: str = ""
    scene: tuple[str, Scene] | None = None
    time: int | None = None
    name: str = ""
    stage: Stage = ""
    beats: int = 0


class StepSeries(NamedTuple):
    """Steps of one kind, and all their frames: groups whose columns may have a line for each frame."""

    groups: Frame
    steps: Sequence[Step]  # without their own frames, but with their number of beats


Shot = Step | StepSeries
