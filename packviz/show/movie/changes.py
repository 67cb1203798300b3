"""What changes from one frame to the next: found by comparing them, and kept as columns."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from packviz.show.movie.columns import plain, rounded, shared, values, written
from packviz.show.movie.marks import DEFAULTS, Column, Frame, Marks, Place, Tip

__all__ = ["Block", "Changes"]

# Groups; beats; how many of their marks change in each beat, which, and of each field the values that they get.
# All marks: no number, and none are named.
Block = list[Any]
Event = tuple[int, Marks | None]  # a beat, and how a group stands after it; None if it is not there
Look = Mapping[str, Column]
Found = dict[str, tuple[np.ndarray, list[np.ndarray]]]  # of a field which marks change in each event, and to what
CELLS = 2**17  # values of a column that are compared at once
VALUED = ("value", "count")  # roles that show a value, even if it is 0
NOWHERE = Place("", np.nan, np.nan)
KINDS = {field: float if field in "xywhv" else int if field in ("token", "vec") else object for field in DEFAULTS}
FLAGS = {"shown", "tone"}  # fields in which several groups may change alike
NUMBERED = ("axis", "count", "note")  # where there is no room for all of a group, each second or third one is shown


class Changes:
    """What changes on the way to each frame; the first one is what there is before the first step.

    A mark that is not in a frame fades; one that is in it and was not appears, coming from its origin if it has one.
    blocks: what changes, group by group; a beat is the way from one frame to the next, and the first one is 0.
    """

    def __init__(self, frames: Sequence[Frame]) -> None:
        self._groups: dict[str, _Group] = {}
        before: Frame = {}
        for beat, frame in enumerate(frames, -1):
            for name in before.keys() - frame.keys():
                self._groups[name].events.append((beat, None))
            for name, marks in frame.items():
                if marks is before.get(name) and not marks.anew:
                    continue
                if name not in self._groups:
                    self._groups[name] = _Group(marks, there=beat < 0)
                if beat >= 0:
                    self._groups[name].events.append((beat, marks))
            before = frame
        found = ([number, *block] for number, group in enumerate(self._groups.values()) for block in group.blocks())
        self.blocks = _alike(found)

    @property
    def groups(self) -> list[Marks]:
        """The groups as they were first seen, in the order in which their blocks count them."""
        return [group.first for group in self._groups.values()]

    def data(self, more: dict[str, Any]) -> dict[str, Any]:
        """Return each group as it is before the first step, the blocks, the lines that marks say, and shared columns.

        more: other columns, which may share them.
        """
        tips: dict[Tip, int] = {}
        known: dict[tuple[int, str], Any] = {}
        groups = [group.data(tips, known) for group in self._groups.values()]
        blocks = [[*block[:-1], dict(block[-1])] for block in self.blocks]
        columns = shared(_places([*groups, more], blocks))
        return {
            "groups": [[*(group.pop(name) for name in ("role", "p", "x", "y")), group] for group in groups],
            "columns": columns,
            "changes": blocks,
            "tips": [[list(line) for line in tip] for tip in tips],
        }


class _Group:
    """One group on its way: how it is first seen, whether it is there before the first step, and what becomes of it."""

    def __init__(self, marks: Marks, *, there: bool) -> None:
        self.first = marks
        self.opening = marks.shown if there else False
        self.events: list[Event] = []

    def blocks(self) -> Iterator[Block]:
        """Yield what changes; of marks that are not seen nothing is told."""
        count = self.first.count
        if self._comes():
            yield [self.events[0][0], None, None, {"shown": True}]
            return
        size, look, seen = max(1, CELLS // count), self.first.look, self.opening
        for start in range(0, len(self.events), size):
            events = self.events[start : start + size]
            shown = _table("shown", [seen, *(marks.shown if marks else False for _, marks in events)], count)
            found, look = _compared(look, events, shown)
            seen = shown[-1]
            yield from _together(np.array([beat for beat, _ in events]), found, count)

    def _comes(self) -> bool:
        """Return whether nothing happens but that all of it appears."""
        _, marks = self.events[0] if len(self.events) == 1 else (0, None)
        return marks is self.first and not marks.origin and marks.shown is True and self.opening is False

    def data(self, tips: dict[Tip, int], known: dict[tuple[int, str], Any]) -> dict[str, Any]:
        """Return what differs from the defaults before the first step.

        known: columns as JSON has them, by their identities and fields: many groups have the same ones.
        """
        first = self.first
        group: dict[str, Any] = {"role": first.role}
        if first.count != 1:
            group["n"] = first.count
        columns: dict[str, Column] = {}
        for field, column in first.look.items():
            told = field in ("p", "x", "y") or (field == "v" and first.role in VALUED)
            if told or isinstance(column, np.ndarray) or column != DEFAULTS[field]:
                columns[field] = column
        if first.seq is not None:
            columns["seq"] = first.seq
        if first.k is not None and (
            first.role in NUMBERED or any("{k}" in each for line in first.tip for each in line)
        ):
            columns["k"] = first.k
        for field, column in columns.items():
            key = id(column), field
            if key not in known:
                known[key] = plain(field, column)
            group[field] = known[key]
        if first.tip:
            group["tip"] = tips.setdefault(first.tip, len(tips))
        if self.opening is not False:
            group["shown"] = plain("shown", self.opening)
        return group


def _compared(look: Look, events: Sequence[Event], shown: np.ndarray) -> tuple[Found, Look]:
    """Return what changes, and how the marks look in the end.

    look: before the first event. shown: (events + 1, marks) which of them are seen then, and in each event.
    """
    looks, last, found = [look], dict(look), Found()
    for _, marks in events:
        looks.append(marks.look if marks else looks[-1])
    new = [(one, other) for one, other in pairwise(looks) if one is not other]
    fields = {field for one, other in new for field in DEFAULTS if one[field] is not other[field]}
    always = not fields or shown[1:].all()
    rows, every = np.arange(len(looks))[:, None], np.arange(shown.shape[1])
    if not always:
        rows = rows * shown
        rows[0] = 0
        rows = np.maximum.accumulate(rows)  # the event of which each mark has its look
    for field in filter(fields.__contains__, DEFAULTS):
        table = _table(field, [each[field] for each in looks], len(every))
        table = table if always else table[rows, every]
        where: np.ndarray = table[1:] != table[:-1]
        if where.any():
            found[field] = where, [table[1:]]
            last[field] = table[-1]
    differs = shown[1:] != shown[:-1]
    if differs.any():
        found["shown"] = differs, [shown[1:]]
    if any(marks and marks.origin for _, marks in events):
        coming = _coming(events, shown)
        if coming[0].any():
            found["from"] = coming
    return found, last


def _coming(events: Sequence[Event], shown: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return which marks come from an origin, and the panels, x and y from which they come."""
    known = [(marks.origin, marks.anew) if marks and marks.origin else (NOWHERE, False) for _, marks in events]
    tables = [
        _table(field, [getattr(origin, name) for origin, _ in known], shown.shape[1])
        for field, name in (("p", "panel"), ("x", "x"), ("y", "y"))
    ]
    anew = np.array([[again] for _, again in known])
    return shown[1:] & (anew | ~shown[:-1]) & np.isfinite(tables[1]), tables


def _together(beats: np.ndarray, found: Found, count: int) -> Iterator[Block]:
    """Yield a block for all fields that change in the same marks in the same beats."""
    blocks: dict[bytes, tuple[np.ndarray, dict[str, Any]]] = {}
    for field, (where, tables) in found.items():
        columns = [written(values(field, table[where])) for table in tables]
        told = columns if field == "from" else columns[0]
        blocks.setdefault(where.tobytes(), (where, {}))[1][field] = told
    for where, fields in blocks.values():
        counts = where.sum(1)
        changed = counts > 0
        counts = counts[changed]
        whole = bool((counts == count).all())
        picked = None if whole else written(where.nonzero()[1].tolist())
        yield [written(beats[changed].tolist()), None if whole else written(counts.tolist()), picked, fields]


def _table(field: str, columns: Sequence[Column], count: int) -> np.ndarray:
    """Return (columns, marks): each of them with one value for each mark, as far as its digits are shown."""
    table = np.empty((len(columns), count), KINDS.get(field, bool))
    for row, column in enumerate(columns):
        table[row] = column
    return rounded(field, table)


def _places(groups: Sequence[dict[str, Any]], blocks: Sequence[Block]) -> Iterator[tuple[Any, Any]]:
    """Yield where columns stand."""
    for group in groups:
        yield from ((group, field) for field in group)
    for block in blocks:
        fields = block[-1]
        if "from" in fields:
            fields["from"] = list(fields["from"])
            yield from ((fields["from"], i) for i in range(3))
        yield from ((block, i) for i in (1, 2, 3))
        yield from ((fields, field) for field in fields if field != "from")


def _alike(blocks: Iterator[Block]) -> list[Block]:
    """Return the blocks, those of several groups that say the same together."""
    told: list[Block] = []
    known: dict[str, Block] = {}
    for block in blocks:
        number, *change = block
        same = known.setdefault(str(change), block) if change[-1].keys() <= FLAGS else block
        if same is block:
            told.append(block)
        else:
            same[0] = [*(same[0] if isinstance(same[0], list) else [same[0]]), number]
    return told
