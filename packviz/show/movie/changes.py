"""What changes from one frame to the next: found by comparing them, and kept as columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from packviz.show.movie.columns import plain, runs, shared, values, written
from packviz.show.movie.marks import DEFAULTS, Column, Frame, Marks, Place, Tip

__all__ = ["Block", "Changes"]

Block = list[Any]  # the groups, which of their marks, and of each field one value for all of these or one for each
Event = tuple[int, Marks | None]  # a frame, and how a group stands in it; None if it is not in it
Told = tuple[int, Any, dict[str, Any]]  # the frame, which marks change on the way to it (None for all), and how
Look = Mapping[str, Column]
Found = dict[str, tuple[np.ndarray, list[np.ndarray]]]  # of a field which marks change in each event, and to what
FEW = 32  # marks of a group up to which whatever changes in some of them is told of all of these together
CELLS = 2**17  # values of a column that are compared at once
VALUED = ("value", "count")  # roles that show a value, even if it is 0
NOWHERE = Place("", np.nan, np.nan)
NUMBERED = ("axis", "count", "note")  # where there is no room for all of a group, each second or third one is shown


class Changes:
    """What changes on the way to each frame; the first one is what there is before the first step.

    A mark that is not in a frame fades; one that is in it and was not appears, coming from its origin if it has one.
    beats: of each frame but the first its blocks.
    """

    def __init__(self, frames: Sequence[Frame]) -> None:
        self._groups: dict[str, _Group] = {}
        before: Frame = {}
        for i, frame in enumerate(frames):
            for name in before.keys() - frame.keys():
                self._groups[name].events.append((i, None))
            for name, marks in frame.items():
                if name not in self._groups:
                    self._groups[name] = _Group(marks, there=not i)
                if i and (marks is not before.get(name) or marks.anew):
                    self._groups[name].events.append((i, marks))
            before = frame
        beats: list[list[Block]] = [[] for _ in frames]
        for number, group in enumerate(self._groups.values()):
            for i, picked, fields in group.told():
                beats[i].append([number, picked, fields])
        self.beats = [_alike(blocks) for blocks in beats[1:]]

    @property
    def groups(self) -> list[Marks]:
        """The groups as they were first seen, in the order in which their blocks count them."""
        return [group.first for group in self._groups.values()]

    def data(self) -> dict[str, Any]:
        """Return each group as it is before the first step, with the lines that marks say, and columns in common."""
        tips: dict[Tip, int] = {}
        groups = [group.data(tips) for group in self._groups.values()]
        return {"groups": groups, "columns": shared(groups), "tips": [[list(line) for line in tip] for tip in tips]}


class _Group:
    """One group on its way: how it is first seen, whether it is there before the first step, and what becomes of it."""

    def __init__(self, marks: Marks, *, there: bool) -> None:
        self.first = marks
        self.opening = marks.shown if there else False
        self.events: list[Event] = []

    def told(self) -> Iterator[Told]:
        """Yield what changes, frame after frame; of marks that are not seen nothing is told."""
        count = self.first.count
        if count == 1:
            yield from self._alone()
            return
        size, look, seen = max(1, CELLS // count), self.first.look, self.opening
        for start in range(0, len(self.events), size):
            events = self.events[start : start + size]
            shown = _table([seen, *(marks.shown if marks else False for _, marks in events)], count)
            found, look = _compared(look, events, shown)
            seen = shown[-1]
            yield from _together(events, found, count)

    def _alone(self) -> Iterator[Told]:
        look, seen = dict(self.first.look), bool(self.opening)
        for i, marks in self.events:
            fields: dict[str, Any] = {}
            shown = marks is not None and bool(marks.shown)
            if shown != seen:
                fields["shown"] = shown
            if marks and shown:
                changed = {field: new for field, new in marks.look.items() if new is not look[field]}
                fields = {field: plain(field, new) for field, new in changed.items() if new != look[field]} | fields
                look |= changed
                start = marks.origin
                if start and (marks.anew or not seen) and np.isfinite(start.x):
                    fields["from"] = [plain("x", start.panel), plain("x", start.x), plain("x", start.y)]
            seen = shown
            if fields:
                yield i, None, fields

    def data(self, tips: dict[Tip, int]) -> dict[str, Any]:
        """Return what differs from the defaults before the first step."""
        first = self.first
        group: dict[str, Any] = {"role": first.role}
        if first.count != 1:
            group["n"] = first.count
        for field, column in first.look.items():
            told = field in ("p", "x", "y") or (field == "v" and first.role in VALUED)
            if told or isinstance(column, np.ndarray) or column != DEFAULTS[field]:
                group[field] = plain(field, column)
        if first.seq is not None:
            group["seq"] = plain("seq", first.seq)
        if first.k is not None and (
            first.role in NUMBERED or any("{k}" in each for line in first.tip for each in line)
        ):
            group["k"] = plain("k", first.k)
        if first.tip:
            group["tip"] = tips.setdefault(first.tip, len(tips))
        if self.opening is not False:
            group["shown"] = plain("shown", self.opening)
        return group


def _compared(look: Look, events: Sequence[Event], shown: np.ndarray) -> tuple[Found, Look]:
    """Return what changes, and how the marks look in the end.

    look: before the first event. shown: (events + 1, marks) which of them are seen then, and in each event.
    """
    found: Found = {}
    looks, last = [look, *(marks.look if marks else look for _, marks in events)], dict(look)
    always = shown[1:].all()
    rows, every = np.arange(len(looks))[:, None], np.arange(shown.shape[1])
    if not always:
        rows = rows * shown
        rows[0] = 0
        rows = np.maximum.accumulate(rows)  # the event of which each mark has its look
    for field in DEFAULTS:
        columns = [each[field] for each in looks]
        if len(set(map(id, columns))) > 1:
            table = _table(columns, len(every))
            table = table if always else table[rows, every]
            where: np.ndarray = table[1:] != table[:-1]
            if where.any():
                found[field] = where, [table[1:]]
                last[field] = table[-1]
    differs = shown[1:] != shown[:-1]
    if differs.any():
        found["shown"] = differs, [shown[1:]]
    coming = _coming(events, shown)
    if coming:
        found["from"] = coming
    return found, last


def _coming(events: Sequence[Event], shown: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]] | None:
    """Return which marks come from an origin, and the panels, x and y from which they come."""
    if not any(marks and marks.origin for _, marks in events):
        return None
    known = [(marks.origin, marks.anew) if marks and marks.origin else (NOWHERE, False) for _, marks in events]
    panel, x, y = (_table([getattr(origin, at) for origin, _ in known], shown.shape[1]) for at in ("panel", "x", "y"))
    anew = np.array([[again] for _, again in known])
    return shown[1:] & (anew | ~shown[:-1]) & np.isfinite(x), [panel, x, y]


def _together(events: Sequence[Event], found: Found, count: int) -> Iterator[Told]:
    """Yield fields that change in the same marks together; where there are few marks, in any of them."""
    blocks: dict[tuple[int, bytes], Told] = {}
    some = [where for field, (where, _) in found.items() if field != "from"]
    union = np.logical_or.reduce(some) if count <= FEW and len(some) > 1 else None
    for field, (changed, tables) in found.items():
        where = changed if union is None or field == "from" else union
        keys, marks, ends = where.tobytes(), where.nonzero()[1].tolist(), [0, *where.sum(1).cumsum().tolist()]
        columns = [values(field, table[where]) for table in tables]
        for e in np.flatnonzero(changed.any(1)).tolist():
            start, end = ends[e], ends[e + 1]
            key = e, keys[e * count : (e + 1) * count]
            if key not in blocks:
                blocks[key] = events[e][0], None if end - start == count else runs(marks[start:end]), {}
            told = [written(column[start:end]) for column in columns]
            blocks[key][2][field] = told if field == "from" else told[0]
    yield from blocks.values()


def _table(columns: Sequence[Column], count: int) -> np.ndarray:
    """Return (columns, marks): each of them with one value for each mark."""
    single = {column for column in columns if not isinstance(column, np.ndarray)}
    full = {column: np.full(count, column) for column in single}
    return np.array([column if isinstance(column, np.ndarray) else full[column] for column in columns])


def _alike(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks, those of several groups that say the same together."""
    told: list[Block] = []
    known: dict[tuple[Any, ...], Block] = {}
    for block in blocks:
        number, picked, fields = block
        value, *more = fields.values()
        if not more and isinstance(value, str | bool | int | float):
            same = known.setdefault((*fields.items(), picked and str(picked)), block)
            if same is not block:
                same[0] = [*(same[0] if isinstance(same[0], list) else [same[0]]), number]
                continue
        told.append(block)
    return told
