"""What changes from one frame to the next: found by comparing them, and told as columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from packviz.show.movie.columns import Columns, rounded
from packviz.show.movie.layout import Column, Place
from packviz.show.movie.marks import DEFAULTS, Frame, Marks, Tip

# Groups; beats; how many of their marks change in each beat, which, and of each field the values that they get.
# All marks: no number, and none are named.
Block = list[Any]
Event = tuple[int, Marks | None]  # a beat, and how a group stands after it; None if it is not there
Found = dict[str, tuple[np.ndarray, list[np.ndarray]]]  # of a field which marks change in each event, and to what
CELLS = 2**17  # values of a column that are compared at once
VALUED = ("value", "count")  # roles that show a value, even if it is 0
NOWHERE = Place("", np.nan, np.nan)
KINDS = {field: float if field in "xywhv" else int if field in ("token", "vec") else object for field in DEFAULTS}
FLAGS = {"shown", "tone"}  # fields in which several groups may change alike
NUMBERED = ("axis", "count", "note")  # where there is no room for all of a group, each second or third one is shown


class Changes:
    """What there is, and what changes on the way to each frame; the first one is what there is before the first step.

    A mark that is not in a frame fades; one that is in it and was not appears, coming from its origin if it has one.
    A beat is the way from one frame to the next, and the first one is 0. groups: as they were first seen, in the order
    in which the data count them. data: each as it is before the first step, the blocks of changes, the lines that
    marks say, and shared columns, those of the tokens too.
    """

    def __init__(self, frames: Sequence[Frame], tokens: Mapping[str, Any]) -> None:
        self._columns, self._tips = Columns(), dict[Tip, int]()
        events: dict[str, list[Event]] = {name: [] for name in dict.fromkeys(chain.from_iterable(frames))}
        for beat, (before, frame) in enumerate(pairwise([{}, *frames]), -1):
            for name, marks in frame.items() - before.items():
                events[name].append((beat, marks))
            for name in before.keys() - frame.keys():
                events[name].append((beat, None))
        self.groups = [marks for each in events.values() for _, marks in each[:1] if marks]
        told = list(zip(self.groups, events.values(), strict=True))
        self.data = {
            "groups": [self._group(first, there=each[0][0] < 0) for first, each in told],
            "tokens": {name: self._columns.put("", column) for name, column in tokens.items()},
            "changes": _alike([i, *block] for i, each in enumerate(told) for block in self._blocks(*each)),
            "tips": [[list(line) for line in tip] for tip in self._tips],
            "columns": self._columns.shared(),
        }

    def _group(self, first: Marks, *, there: bool) -> list[Any]:
        """Return what differs from the defaults before the first step."""
        columns = {field: column for field, column in first.look.items() if column is not DEFAULTS[field]}
        if first.role in VALUED:
            columns["v"] = first.look["v"]
        if first.seq is not None:
            columns["seq"] = first.seq
        if first.keys and (first.role in NUMBERED or "{k}" in str(first.tip)):
            columns["k"] = first.keys[-1]
        if there and first.shown is not False:
            columns["shown"] = first.shown
        put = self._columns.put
        group = {
            field: told
            for field, column in columns.items()
            if (told := put(field, column)) != DEFAULTS.get(field) or field == "v"
        }
        if first.tip:
            group["tip"] = self._tips.setdefault(first.tip, len(self._tips))
        if first.count != 1:
            group["n"] = first.count
        return [first.role, *(group.pop(field, DEFAULTS[field]) for field in "pxy"), group]

    def _blocks(self, first: Marks, events: Sequence[Event]) -> Iterator[Block]:
        """Yield what changes; of marks that are not seen nothing is told."""
        look, seen = first.look, False
        if events[0][0] < 0:
            seen, events = first.shown, events[1:]
        elif len(events) == 1 and first.shown is True and not first.origin:  # all of it appears, and that is all
            yield [events[0][0], None, None, {"shown": True}]
            return
        size = max(1, CELLS // first.count)
        for start in range(0, len(events), size):
            part = events[start : start + size]
            shown = _table("shown", [seen, *(marks.shown if marks else False for _, marks in part)], first.count)
            found = _compared(look, part, shown)
            look = {**look, **{field: tables[0][-1] for field, (_, tables) in found.items() if field in look}}
            seen = shown[-1]
            yield from self._together(np.array([beat for beat, _ in part]), found, first.count)

    def _together(self, beats: np.ndarray, found: Found, count: int) -> Iterator[Block]:
        """Yield a block for all fields that change in the same marks in the same beats."""
        put = self._columns.put
        blocks: dict[bytes, tuple[np.ndarray, dict[str, Any]]] = {}
        for field, (where, tables) in found.items():
            columns = [put(field, table[where]) for table in tables]
            blocks.setdefault(where.tobytes(), (where, {}))[1][field] = columns if field == "from" else columns[0]
        for where, fields in blocks.values():
            counts = where.sum(1)
            changed = counts > 0
            whole = bool((counts[changed] == count).all())
            told = (None, None) if whole else (put("", counts[changed]), put("", where.nonzero()[1]))
            yield [put("", beats[changed]), *told, fields]


def _compared(look: Mapping[str, Column], events: Sequence[Event], shown: np.ndarray) -> Found:
    """Return what changes.

    look: before the first event. shown: (events + 1, marks) which of them are seen then, and in each event.
    """
    looks, found = [look], Found()
    for _, marks in events:
        looks.append(marks.look if marks else looks[-1])
    new = [(one, other) for one, other in pairwise(looks) if one is not other]
    fields = {field for one, other in new for field in DEFAULTS if one[field] is not other[field]}
    if fields:
        rows, every = np.arange(len(looks))[:, None] * shown, np.arange(shown.shape[1])
        rows[0] = 0
        rows = np.maximum.accumulate(rows)  # the event of which each mark has its look
        for field in filter(fields.__contains__, DEFAULTS):
            table = _table(field, [each[field] for each in looks], len(every))[rows, every]
            found[field] = table[1:] != table[:-1], [table[1:]]
    found["shown"] = shown[1:] != shown[:-1], [shown[1:]]
    if [marks for _, marks in events if marks and marks.origin]:
        found["from"] = _coming(events, shown)
    return {field: (where, tables) for field, (where, tables) in found.items() if where.any()}


def _coming(events: Sequence[Event], shown: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return which marks come from an origin, and the panels, x and y from which they come."""
    known = [(marks.origin, marks.anew) if marks and marks.origin else (NOWHERE, False) for _, marks in events]
    tables = [_table(field, [origin[i] for origin, _ in known], shown.shape[1]) for i, field in enumerate("pxy")]
    anew = np.array([[again] for _, again in known])
    return shown[1:] & (anew | ~shown[:-1]) & np.isfinite(tables[1]), tables


def _table(field: str, columns: Sequence[Column], count: int) -> np.ndarray:
    """Return (columns, marks): each of them with one value for each mark, as far as its digits are shown."""
    table = np.empty((len(columns), count), KINDS.get(field, bool))
    for row, column in enumerate(columns):
        table[row] = column
    return rounded(table)


def _alike(blocks: Iterable[Block]) -> list[Block]:
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
