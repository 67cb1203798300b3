"""What changes from one frame to the next: found by comparing them, and told as columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import sub
from typing import Any

import numpy as np

from packviz.show.movie.layout import Column, Place, short
from packviz.show.movie.marks import DEFAULTS, NONE, Frame, Marks, Tip

# Groups; beats; how many of their marks change in each beat, which, and of each field the values that they get.
# All marks: no number, and none are named.
Block = list[Any]
Event = tuple[int, int, Marks | None]  # a beat, how many from there on, and how a group stands; None if it is not there
Found = dict[str, tuple[np.ndarray, list[np.ndarray]]]  # of a field which marks change in each beat, and to what
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

    frames: each with the number of beats over which it goes on.
    """

    def __init__(self, frames: Iterable[tuple[Frame, int]], tokens: Mapping[str, Any]) -> None:
        self._lists, self._tips = _Lists(), dict[Tip, int]()
        self.groups = list[Marks]()
        events: dict[str, list[Event]] = {}
        before, beat = Frame(), -1
        for frame, beats in frames:
            for name, marks in frame.items():
                if before.get(name) is marks:
                    continue
                moves = beats > 1 and marks.moves
                if name not in events:
                    self.groups.append(marks.at(0) if moves else marks)
                    events[name] = []
                events[name].append((beat, beats if moves else 1, marks))
            for name in before.keys() - frame.keys():
                events[name].append((beat, 1, None))
            before, beat = frame, beat + beats
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
        seen, put = False, self._lists.put
        if events[0][0] < 0:
            seen, events = first.shown, events[1:]
        still = (
            marks is None or (marks.look is first.look and marks.shown is True and not marks.origin)
            for *_, marks in events
        )
        if isinstance(seen, bool) and all(still):  # all of it comes and goes, and that is all
            states = [(-1, seen), *((beat, marks is not None) for beat, _, marks in events)]
            if turns := [after for before, after in pairwise(states) if after[1] != before[1]]:
                when, shown = (np.array(column) for column in zip(*turns, strict=True))
                yield [put("", when), None, None, {"shown": put("", np.repeat(shown, first.count))}]
            return
        beats = np.array([beat + line for beat, lines, _ in events for line in range(lines)])
        together: dict[bytes, tuple[np.ndarray, dict[str, Any]]] = {}
        for field, (where, tables) in _compared(first, seen, events, len(beats)).items():
            columns = [put(field, table[where]) for table in tables]
            fields = together.setdefault(where.tobytes(), (where, {}))[1]
            fields[field] = columns if field == "from" else columns[0]
        for where, fields in together.values():
            counts = where.sum(1)
            changed = counts > 0
            whole = bool((counts[changed] == first.count).all())
            told = (None, None) if whole else (put("", counts[changed]), put("", where.nonzero()[1]))
            yield [put("", beats[changed]), *told, fields]


def _compared(first: Marks, seen: Any, events: Sequence[Event], beats: int) -> Found:
    """Return what changes in so many beats; first, seen: how the group stands before, and which marks are there."""
    there = [first, *(marks or first for _, _, marks in events)]
    spans, count, found = [1, *(lines for _, lines, _ in events)], first.count, Found()

    def table(field: str, columns: Sequence[Column]) -> np.ndarray:
        """Return (1 + beats, marks): each column in as many lines as its event has beats, one value for each mark."""
        filled, line = np.empty((1 + beats, count), KINDS.get(field, bool)), 0
        for column, lines in zip(columns, spans, strict=True):
            filled[line : line + lines] = column
            line += lines
        return filled

    shown = table("shown", [seen, *(marks.shown if marks else False for _, _, marks in events)])
    looks = [marks.look for marks in there if marks.look is not first.look]
    if fields := {field for look in looks for field in DEFAULTS if look[field] is not first.look[field]}:
        always, every = bool(shown[1:].all()), np.arange(count)
        last = None if always else np.maximum.accumulate(np.arange(1 + beats)[:, None] * shown)
        for field in filter(fields.__contains__, DEFAULTS):
            values = table(field, [marks.look[field] for marks in there])
            values = values if always else values[last, every]  # each mark looks as it did when it was seen last
            where = values[1:] != values[:-1]
            if KINDS[field] is float:  # as far as digits are shown
                where[where] = _rounded(values[1:][where]) != _rounded(values[:-1][where])
            found[field] = where, [values[1:]]
    found["shown"] = shown[1:] != shown[:-1], [shown[1:]]
    if any(marks.origin for marks in there):  # which marks come from an origin, and from where
        known = [NOWHERE, *((marks and marks.origin) or NOWHERE for _, _, marks in events)]
        places = [table(field, columns)[1:] for field, columns in zip("pxy", zip(*known, strict=True), strict=True)]
        anew = table("shown", [False, *(marks is not None and marks.anew for _, _, marks in events)])
        found["from"] = shown[1:] & (anew[1:] | ~shown[:-1]) & np.isfinite(places[1]), places
    return {field: (where, tables) for field, (where, tables) in found.items() if where.any()}


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
            whole = list(map(int, values))
            values = whole if whole == values else [int(each) if each % 1 == 0 else each for each in values]
        elif field in MAY_BE_NONE and NONE in values:
            values = [None if each == NONE else each for each in values]
        if not values or values.count(values[0]) == len(values):
            return values[0] if values else None
        key = type(values[0]), *values
        if key not in self._known:
            runs = _runs(values) if column.dtype.kind in "if" and None not in values else []
            self._known[key] = {"runs": runs} if runs else [len(self._lists)]
            if not runs:
                self._lists.append((self._known[key], values))
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


def _runs(values: Sequence[float]) -> list[float]:
    """Return numbers as runs that grow evenly, [first, step, how many, ...], where that is shorter; else nothing."""
    steps = list(map(sub, values[1:], values))
    turns = [i for i, bend in enumerate(map(sub, steps[1:], steps), 1) if not -1e-9 < bend < 1e-9]
    most, last = 0.6 * len(values) - 1, len(steps)
    if 1.5 * len(turns) > most:
        return []
    runs, start = list[float](), 0
    for end in [*turns, last]:
        if start < end or end == last:
            runs += [values[start], round(steps[start], 4) if start < end else 0, end - start + 1]
            start = end + 1
    return runs if len(runs) <= most else []
