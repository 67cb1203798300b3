"""What changes from one frame to the next, found by comparing frames and stored as columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from packviz.show.movie.layout import Column, Place, short
from packviz.show.movie.marks import DEFAULTS, NONE, Frame, Marks, Tip

# Groups; beats; how many of their marks change in each beat; which; and the new values of each field.
# If all marks change, the number and the marks are None.
Block = list[Any]
Event = tuple[Sequence[int], Marks | None]  # beats, and the state of a group in them; None: it is absent
Found = tuple[str, np.ndarray, list[np.ndarray]]  # a field, which marks change it in each beat, and the new values
DIGITS = 3  # after the decimal point
REPEATED = 3  # minimum length of a list that is shared
VALUED = ("value", "count")  # roles that show a value, even if it is 0
NUMBERED = ("axis", "count", "note")  # if a group does not fit, only every second or third mark is shown
MAY_BE_NONE = ("token", "vec")  # fields in which NONE means no value
FLAGS = {"shown", "tone"}  # fields in which several groups may change identically
NOWHERE = Place("", np.nan, np.nan)
KINDS = {field: float if field in "xywhv" else int if field in MAY_BE_NONE else object for field in DEFAULTS}


class Changes:
    """The initial marks, and the changes that lead to each frame; the first frame is the state before the first step.

    A mark that is missing from a frame fades; a new one appears, coming from its origin if it has one. A beat is the
    transition from one frame to the next, and the first one is 0. groups: as first seen, in the order in which the data
    number them. data: each group before the first step, the blocks of changes, the tooltips, and shared columns,
    including those of the tokens.

    frames: each with the number of beats that it takes.
    """

    @np.errstate(invalid="ignore")  # a float beyond the range of int64 does not count as whole
    def __init__(self, frames: Iterable[tuple[Frame, int]], tokens: Mapping[str, Any]) -> None:
        self._lists, self._tips = _Lists(), dict[Tip, int]()
        self.groups = list[Marks]()
        events: dict[str, list[Event]] = {}
        before, beat = Frame(), -1
        for frame, beats in frames:
            for name, marks in frame.items():
                if before.get(name) is marks:
                    continue
                moves = beats > 1 and marks.moving
                if name not in events:
                    self.groups.append(marks.at(0) if moves else marks)
                    events[name] = []
                lines = range(beats) if marks.lines is None else marks.lines
                events[name].append(([beat + line for line in lines] if moves else [beat], marks))
            for name in before.keys() - frame.keys():
                events[name].append(([beat], None))
            before, beat = frame, beat + beats
        pairs = list(zip(self.groups, events.values(), strict=True))
        self.data = {
            "groups": [self._group(first, there=each[0][0][0] < 0) for first, each in pairs],
            "tokens": {name: self._lists.put("", column) for name, column in tokens.items()},
            "changes": _alike([i, *block] for i, each in enumerate(pairs) for block in self._blocks(*each)),
            "tips": [[list(line) for line in tip] for tip in self._tips],
            "columns": self._lists.shared(),
        }

    def _group(self, first: Marks, *, there: bool) -> list[Any]:
        """Return what differs from the defaults before the first step."""
        look, put = first.look, self._lists.put
        changed = {field: put(field, look[field]) for field, usual in DEFAULTS.items() if look[field] is not usual}
        group = {field: column for field, column in changed.items() if column != DEFAULTS[field]}
        if first.role in VALUED:
            group.setdefault("v", 0)
        if first.seq is not None:
            group["seq"] = self._lists.put("seq", first.seq)
        if first.keys and (first.role in NUMBERED or "{k}" in str(first.tip)):
            group["k"] = self._lists.put("k", first.keys[-1])
        if there and first.shown is not False:
            group["shown"] = self._lists.put("shown", first.shown)
        if first.tip:
            group["tip"] = self._tips.setdefault(first.tip, len(self._tips))
        if first.count != 1:
            group["n"] = first.count
        return [first.role, *(group.pop(field, DEFAULTS[field]) for field in "pxy"), group]

    def _blocks(self, first: Marks, events: Sequence[Event]) -> Iterator[Block]:
        """Yield the changes, together for fields that change in the same marks and beats; none for unseen marks."""
        seen, put = False, self._lists.put
        if events[0][0][0] < 0:
            seen, events = first.shown, events[1:]
        still = (
            marks is None or (marks.look is first.look and marks.shown is True and not marks.origin)
            for _, marks in events
        )
        if not events:
            return
        if isinstance(seen, bool) and all(still):  # the group only comes and goes, as a whole
            states = [(-1, seen), *((beat, marks is not None) for (beat,), marks in events)]
            if turns := [after for before, after in pairwise(states) if after[1] != before[1]]:
                when, shown = (np.array(column) for column in zip(*turns, strict=True))
                yield [put("", when), None, None, {"shown": put("", np.repeat(shown, first.count))}]
            return
        beats = np.array([*chain.from_iterable(lines for lines, _ in events)])
        together: dict[bytes, tuple[np.ndarray, dict[str, Any]]] = {}
        for field, where, values in _compared(first, seen, events, len(beats)):
            if not len(values[0]):
                continue
            columns = [put(field, column) for column in values]
            fields = together.setdefault(where.tobytes(), (where, {}))[1]
            fields[field] = columns if field == "from" else columns[0]
        for where, fields in together.values():
            lines, marks = where.nonzero()
            counts = np.bincount(lines)
            changed = counts.nonzero()[0]
            whole = len(lines) == len(changed) * first.count
            which = (None, None) if whole else (put("", counts[changed]), put("", marks))
            yield [put("", beats[changed]), *which, fields]


def _compared(first: Marks, seen: Any, events: Sequence[Event], beats: int) -> Iterator[Found]:
    """Yield what changes in each of the beats; first, seen: the group before them, and which marks are visible."""
    states, count = [first, *(marks or first for _, marks in events)], first.count
    ends = [*accumulate((len(lines) for lines, _ in events), initial=1)]
    spans = [slice(0, 1), *map(slice, ends, ends[1:])]

    def table(field: str, columns: Iterable[Column]) -> np.ndarray:
        """Return (1 + beats, marks): each column on as many lines as its event has, with one value per mark."""
        filled = np.empty((1 + beats, count), KINDS.get(field, bool))
        for span, column in zip(spans, columns, strict=True):
            filled[span] = column
        return filled

    shown = table("shown", [seen, *(marks.shown if marks else False for _, marks in events)])
    start, looks = first.look, {id(marks.look): marks.look for marks in states}
    if fields := [field for field in start for look in looks.values() if look[field] is not start[field]]:
        always, every = bool(shown[1:].all()), np.arange(count)
        last = None if always else np.maximum.accumulate(np.arange(1 + beats)[:, None] * shown)
        for field in dict.fromkeys(fields):
            values = table(field, [marks.look[field] for marks in states])
            values = values if always else values[last, every]  # a hidden mark keeps the look it had when last shown
            if field in "xywh":
                values = values.round(DIGITS)
            where = values[1:] != values[:-1]
            yield field, where, [values[1:][where]]
    where = shown[1:] != shown[:-1]
    yield "shown", where, [shown[1:][where]]
    if any(marks.origin for marks in states):  # which marks come from an origin, and from where
        anew = table("shown", [False, *(marks is not None and marks.anew for _, marks in events)])
        origins = [NOWHERE, *((marks and marks.origin) or NOWHERE for _, marks in events)]
        origin = [table(field, columns)[1:] for field, columns in zip("pxy", zip(*origins, strict=True), strict=True)]
        where = shown[1:] & (anew[1:] | ~shown[:-1]) & np.isfinite(origin[1])
        yield "from", where, [column[where] for column in origin]


def _alike(blocks: Iterable[Block]) -> list[Block]:
    """Merge the blocks of groups that change identically."""
    merged: list[Block] = []
    known: dict[Any, Block] = {}
    for block in blocks:
        number, *change, columns = block
        if columns.keys() <= FLAGS:  # equal columns are the same object
            same = known.setdefault((*columns, *map(id, (*change, *columns.values()))), block)
            if same is not block:
                same[0] = [*(same[0] if isinstance(same[0], list) else [same[0]]), number]
                continue
        merged.append(block)
    return merged


class _Lists:
    """Columns as stored in JSON: one value if all are equal, runs if numbers grow evenly, else a list.

    A list that is used in several places is written once, in `shared`; its places hold its number, in a list of one:
    no column is a list of one value.
    """

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}
        self._lists: list[tuple[list[Any], list[Any]]] = []  # each list's place, and its values
        self._again: set[int] = set()

    def put(self, field: str, column: Column) -> Any:
        """Return a column of a field as stored in JSON; lists are filled in once all are known."""
        if not isinstance(column, np.ndarray):
            if isinstance(column, float):
                return short(column)
            return None if field in MAY_BE_NONE and column == NONE else column
        kind = column.dtype.kind
        data = column.tobytes()
        if kind == "f":
            whole = column.astype(np.int64)
            if whole.astype(float).tobytes() == data:
                kind, column = "i", whole
            else:
                column = column.round(DIGITS)
            data = column.tobytes()
        elif field in MAY_BE_NONE and NONE in column:
            kind, column = "O", np.where(column == NONE, np.array(None), column)
        key = kind, data if kind in "ifb" else tuple(column.tolist())
        if (found := self._known.get(key, self)) is self:
            self._known[key] = found = self._new(kind, column)
        elif isinstance(found, list):
            self._again.add(found[0])
        return found

    def _new(self, kind: str, column: np.ndarray) -> Any:
        values: list[Any] = column.tolist()
        if not values or values.count(values[0]) == len(values):
            return values[0] if values else None
        if kind == "f":
            values = [int(each) if each.is_integer() else each for each in values]
        if kind in "if" and (runs := _runs(column, values)):
            return {"runs": runs}
        place = [len(self._lists)]
        self._lists.append((place, values))
        return place

    def shared(self) -> list[Any]:
        """Fill in the lists, and return those used in several places."""
        shared: list[Any] = []
        for number, (place, values) in enumerate(self._lists):
            if number in self._again and len(values) >= REPEATED:
                place[:] = [len(shared)]
                shared.append(values)
            else:
                place[:] = values
        return shared


def _runs(column: np.ndarray, values: Sequence[float]) -> list[float]:
    """Return numbers as evenly growing runs, [first, step, count, ...], if that is shorter; else []."""
    most = 0.6 * len(values) - 1
    if most < 3:
        return []
    exact = column if column.dtype.kind == "i" else np.rint(column * 10**DIGITS)
    steps = exact[1:] - exact[:-1]
    (turns,) = (steps[1:] - steps[:-1]).nonzero()
    if 1.5 * len(turns) > most:
        return []
    runs, start = list[float](), 0
    for end in [*(turns + 1).tolist(), len(steps)]:
        if start < end or end == len(steps):
            step = round(values[start + 1] - values[start], 4) if start < end else 0
            runs += [values[start], step, end - start + 1]
            start = end + 1
    return runs if len(runs) <= most else []
