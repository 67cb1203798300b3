"""What changes from one frame to the next: found by comparing them, and told as columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from packviz.show.movie.layout import Column, Place, short
from packviz.show.movie.marks import DEFAULTS, NONE, Frame, Marks, Tip

# Groups; beats; how many of their marks change in each beat, which, and of each field the values that they get.
# All marks: no number, and none are named.
Block = list[Any]
Event = tuple[int, Marks | None]  # a beat, and how a group stands after it; None if it is not there
Found = dict[str, tuple[np.ndarray, list[np.ndarray]]]  # of a field which marks change in each event, and to what
CELLS = 2**17  # values of a column that are compared at once
DIGITS = 3  # behind the point
REPEATED = 3  # values from which a list is written once, wherever it is needed
VALUED = ("value", "count")  # roles that show a value, even if it is 0
NUMBERED = ("axis", "count", "note")  # where there is no room for all of a group, each second or third one is shown
MAY_BE_NONE = ("token", "vec")  # fields in which NONE stands for none
FLAGS = {"shown", "tone"}  # fields in which several groups may change alike
NOWHERE = Place("", np.nan, np.nan)
KINDS = {field: float if field in "xywhv" else int if field in MAY_BE_NONE else object for field in DEFAULTS}


class Changes:
    """What there is, and what changes on the way to each frame; the first one is what there is before the first step.

    A mark that is not in a frame fades; one that is in it and was not appears, coming from its origin if it has one.
    A beat is the way from one frame to the next, and the first one is 0. groups: as they were first seen, in the order
    in which the data count them. data: each as it is before the first step, the blocks of changes, the lines that
    marks say, and shared columns, those of the tokens too.
    """

    def __init__(self, frames: Sequence[Frame], tokens: Mapping[str, Any]) -> None:
        self._lists, self._tips = _Lists(), dict[Tip, int]()
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
            "tokens": {name: self._lists.put("", column) for name, column in tokens.items()},
            "changes": _alike([i, *block] for i, each in enumerate(told) for block in self._blocks(*each)),
            "tips": [[list(line) for line in tip] for tip in self._tips],
            "columns": self._lists.shared(),
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
        told = {field: self._lists.put(field, column) for field, column in columns.items()}
        group = {field: one for field, one in told.items() if one != DEFAULTS.get(field) or field == "v"}
        if first.tip:
            group["tip"] = self._tips.setdefault(first.tip, len(self._tips))
        if first.count != 1:
            group["n"] = first.count
        return [first.role, *(group.pop(field, DEFAULTS[field]) for field in "pxy"), group]

    def _blocks(self, first: Marks, events: Sequence[Event]) -> Iterator[Block]:
        """Yield what changes, the fields that do in the same marks and beats together; nothing of unseen marks."""
        look, seen, put = first.look, False, self._lists.put
        if events[0][0] < 0:
            seen, events = first.shown, events[1:]
        elif len(events) == 1 and first.shown is True and not first.origin:  # all of it appears, and that is all
            yield [events[0][0], None, None, {"shown": True}]
            return
        size = max(1, CELLS // first.count)
        for start in range(0, len(events), size):
            part = events[start : start + size]
            shown = _table("shown", [seen, *(marks.shown if marks else False for _, marks in part)], first.count)
            found, beats = _compared(look, part, shown), np.array([beat for beat, _ in part])
            look = {**look, **{field: tables[0][-1] for field, (_, tables) in found.items() if field in look}}
            seen = shown[-1]
            together: dict[bytes, tuple[np.ndarray, dict[str, Any]]] = {}
            for field, (where, tables) in found.items():
                columns = [put(field, table[where]) for table in tables]
                fields = together.setdefault(where.tobytes(), (where, {}))[1]
                fields[field] = columns if field == "from" else columns[0]
            for where, fields in together.values():
                counts = where.sum(1)
                changed = counts > 0
                whole = bool((counts[changed] == first.count).all())
                told = (None, None) if whole else (put("", counts[changed]), put("", where.nonzero()[1]))
                yield [put("", beats[changed]), *told, fields]


def _compared(look: Mapping[str, Column], events: Sequence[Event], shown: np.ndarray) -> Found:
    """Return what changes.

    look: before the first event. shown: (events + 1, marks) which of them are seen then, and in each event.
    """
    looks, found, count = [look], Found(), shown.shape[1]
    for _, marks in events:
        looks.append(marks.look if marks else looks[-1])
    new = [(one, other) for one, other in pairwise(looks) if one is not other]
    if fields := {field for one, other in new for field in DEFAULTS if one[field] is not other[field]}:
        rows, every = np.arange(len(looks))[:, None] * shown, np.arange(count)
        rows[0] = 0
        rows = np.maximum.accumulate(rows)  # the event of which each mark has its look
        for field in filter(fields.__contains__, DEFAULTS):
            table = _table(field, [each[field] for each in looks], count)[rows, every]
            found[field] = table[1:] != table[:-1], [table[1:]]
    found["shown"] = shown[1:] != shown[:-1], [shown[1:]]
    if [marks for _, marks in events if marks and marks.origin]:  # which marks come from an origin, and from where
        known = [(marks.origin, marks.anew) if marks and marks.origin else (NOWHERE, False) for _, marks in events]
        tables = [_table(field, [origin[i] for origin, _ in known], count) for i, field in enumerate("pxy")]
        anew = np.array([[again] for _, again in known])
        found["from"] = shown[1:] & (anew | ~shown[:-1]) & np.isfinite(tables[1]), tables
    return {field: (where, tables) for field, (where, tables) in found.items() if where.any()}


def _table(field: str, columns: Sequence[Column], count: int) -> np.ndarray:
    """Return (columns, marks): each of them with one value for each mark, as far as its digits are shown."""
    table = np.empty((len(columns), count), KINDS.get(field, bool))
    for row, column in enumerate(columns):
        table[row] = column
    return _rounded(table)


def _rounded(column: np.ndarray) -> np.ndarray:
    return column.round(DIGITS) if column.dtype.kind == "f" else column


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


class _Lists:
    """Columns as JSON has them: one value where all are the same, runs where numbers grow evenly, else a list.

    A list that stands in several places is written once, in `shared`, and there its number stands, in a list of its
    own: no column is a list of one value.
    """

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}
        self._lists: list[tuple[list[Any], list[Any]]] = []  # of each its place, and what belongs there
        self._again: set[int] = set()

    def put(self, field: str, column: Column) -> Any:
        """Return a column of a field as JSON has it; a list is filled in when all of them are known."""
        if not isinstance(column, np.ndarray):
            if isinstance(column, float):
                return short(column)
            return None if field in MAY_BE_NONE and column == NONE else column
        values: list[Any] = _rounded(column).tolist()
        if column.dtype.kind == "f":
            values = [int(each) if each % 1 == 0 else each for each in values]
        elif field in MAY_BE_NONE and NONE in values:
            values = [None if each == NONE else each for each in values]
        if not values or values.count(values[0]) == len(values):
            return values[0] if values else None
        key = type(values[0]), *values
        if key not in self._known:
            self._known[key] = self._written(values)
        elif isinstance(found := self._known[key], list):
            self._again.add(found[0])
        return self._known[key]

    def shared(self) -> list[Any]:
        """Fill in the lists, and return those that stand in several places."""
        shared: list[Any] = []
        for number, (place, values) in enumerate(self._lists):
            if number in self._again and len(values) >= REPEATED:
                place[:] = [len(shared)]
                shared.append(values)
            else:
                place[:] = values
        return shared

    def _written(self, values: list[Any]) -> Any:
        if not isinstance(values[0], str | bool) and None not in values and (runs := _runs(values)):
            return {"runs": runs}
        place = [len(self._lists)]
        self._lists.append((place, values))
        return place


def _runs(values: list[Any]) -> list[Any]:
    """Return numbers as runs that grow evenly, [first, step, how many, ...], where that is shorter; else nothing."""
    steps = [after - before for before, after in pairwise(values)]
    turns = [i for i, (one, other) in enumerate(pairwise(steps), 1) if not -1e-9 < other - one < 1e-9]
    most, last = 0.6 * len(values) - 1, len(steps)
    if 1.5 * len(turns) > most:
        return []
    runs: list[Any] = []
    start = 0
    for end in [*turns, last]:
        if start < end or end == last:
            step = steps[start] if start < end else 0
            runs += [values[start], step if isinstance(step, int) else round(step, 4), end - start + 1]
            start = end + 1
    return runs if len(runs) <= most else []
