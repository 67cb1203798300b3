"""What a frame shows: groups of marks of one kind, each group as columns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

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
Tone = Literal["", "now", "good", "wrong"]
Column = Any  # one value for all marks of a group, or a numpy array with one for each
Tip = tuple[tuple[str, ...], ...]  # of each line its wordings: the first whose blanks can all be filled is said

NONE = -1  # no token, no row of numbers
DEFAULTS: Mapping[str, Column] = {
    "p": "", "x": 0.0, "y": 0.0, "w": 1.0, "h": 1.0, "text": "", "sub": "", "token": NONE, "v": 0.0, "vec": NONE,
    "scale": "state", "tone": "",
}  # fmt: skip

_SILENT = frozenset({"focus", "ring", "title", "thread", "mark"})  # roles at which nothing can be pointed
_FIRST = {
    "pad": "padding in sequence {seq}: filler {text}, not a token",
    "count": "batch_sizes[{k}] = {text}",
}


class Place(NamedTuple):
    """A position in the units of a panel, or a column of them: one unit is the height of a cell."""

    panel: Column
    x: Column
    y: Column

    def moved(self, dx: Column, dy: Column) -> "Place":
        """Return the place so many units to the right and down."""
        return Place(self.panel, self.x + dx, self.y + dy)


@dataclass(slots=True, eq=False)  # not frozen: there are hundreds, and a frozen one takes seven times as long to make
class Marks:
    """A group of marks of one kind in one frame.

    name: the same in every frame. keys: columns that tell its marks apart. look: what may change, a column for each of
    DEFAULTS: panel `p`, place, size, texts, the number of its token, the value `v` in ten-thousandths, `vec` the row in
    the movie's numbers, scale and tone. seq: the sequence; k: the number of each mark; tip: what they say when pointed
    at. shown: which of them are there. origin: where those that were not there come from, or, if anew, all of them.
    """

    name: str
    role: Role
    keys: tuple[Any, ...]
    look: Mapping[str, Column]
    seq: Column | None
    k: Column | None
    tip: Tip
    shown: Any = True
    origin: Place | None = None
    anew: bool = False

    @property
    def count(self) -> int:
        """How many marks the group has."""
        return len(self.keys[0]) if self.keys else 1

    @property
    def ids(self) -> Iterator[str]:
        """What each mark is called: the name of the group and its keys."""
        if not self.keys:
            return iter((self.name,))
        return (":".join((self.name, *map(str, key))) for key in zip(*self.keys, strict=True))

    def but(
        self,
        place: Place | None = None,
        *,
        shown: Any = None,
        origin: Place | None = None,
        anew: bool = False,
        **look: Column,
    ) -> "Marks":
        """Return the same marks with another look; they come from nowhere unless an origin is given."""
        if place is not None:
            look |= {"p": place.panel, "x": place.x, "y": place.y}
        shown = self.shown if shown is None else shown
        changed = {**self.look, **look} if look else self.look
        return Marks(self.name, self.role, self.keys, changed, self.seq, self.k, self.tip, shown, origin, anew)


def marks(
    name: str,
    role: Role,
    place: Place,
    keys: tuple[Any, ...] = (),
    *,
    seq: Column | None = None,
    says: str = "",
    shown: Any = True,
    origin: Place | None = None,
    anew: bool = False,
    **look: Column,
) -> Marks:
    """Return a group of marks; says: what a value is, in a line for the pointer."""
    look = {**DEFAULTS, "p": place.panel, "x": place.x, "y": place.y, **look}
    k = keys[-1] if keys else None
    return Marks(name, role, keys, look, seq, k, _tip(role, says), shown, origin, anew)


def _tip(role: Role, says: str) -> Tip:
    """Return the lines: the blanks seq and k are its sequence and number, token is all that is known of its token."""
    if role in _SILENT:
        return ()
    if says.startswith("!"):
        return (says[1:],), ("sequence {seq}",)
    first = ("{token}", _FIRST.get(role, "sequence {seq}"))
    return (first, (f"{says}: {{number}}",)) if says else (first, ("{vec}",))


Frame = dict[str, Marks]  # by name; in the order in which they are drawn


def frame(*groups: Marks) -> Frame:
    """Return a frame of these groups, but for empty ones."""
    return {each.name: each for each in groups if each.count}
