"""What changes from one frame to the next, found by comparing frames.

A movie's data hold each group of marks once, as it is before the first step, and then for each frame what changes. A
change is the number of a group, which of its marks change (None: all of them), and the new values: for each field one
value for all of these marks, or a list with one for each. Defaults are left out (`Cell` in format.py). The bytes of a
movie are these data as JSON, with gzip in files and notebooks. Two tokens appear, and the second one moves down:

>>> from packviz.show.movie.layout import Place
>>> from packviz.show.movie.marks import frame, marks
>>> tokens = marks("token", "token", Place("grid", np.arange(2), 0.0), np.arange(2))
>>> moved = tokens.but(Place("grid", np.array([0, 1]), np.array([0, 3])))
>>> data = changes([(frame(), 1), (frame(tokens), 1), (frame(moved), 1)])
>>> data.groups
[{'role': 'token', 'n': 2, 'tip': 0, 'p': 'grid', 'x': [0, 1], 'seq': [0, 1]}]
>>> data.frames
[[[0, None, {'shown': True}]], [[0, [1], {'y': 3}]]]

The size of four movies (`python -m bench movie_cost`: 3 × 4, 6 × 8, 20 × 20, 60 × 60) as JSON is 16, 36,
120 and 443 kB, with gzip 3.7, 6.8, 15 and 65 kB. One record for each mark, without columns, takes 26, 70, 317 and
1,437 kB. Runs and lists that are shared between columns take 12, 25, 68 and 151 kB and need three decoders. A movie of
6 × 8 takes 6.7 to 7.2 ms of CPU time, and took 6.0 to 7.2 ms with them (alternating processes on a busy machine).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np

from packviz.show.movie.layout import Column, Place, short
from packviz.show.movie.marks import DEFAULTS, NONE, Frame, Marks, Tip

Change = list[Any]  # the number of a group, which of its marks (None: all), and the new value or values of each field
Event = tuple[Sequence[int], Marks | None]  # frames, and the state of a group in them; None: it is absent
Found = tuple[str, np.ndarray, list[np.ndarray]]  # a field, which marks change it in each frame, and the new values
DIGITS = 3  # after the decimal point
VALUED = ("value", "count")  # roles that show a value, even if it is 0
NUMBERED = ("axis", "count", "note")  # if a group does not fit, only every second or third mark is shown
AROUND = ("ring", "mark")  # roles that are painted after what they surround
MAY_BE_NONE = ("token", "vec")  # fields in which NONE means no value
NOWHERE = Place("", np.nan, np.nan)
KINDS = {field: float if field in "xywhv" else int if field in MAY_BE_NONE else object for field in DEFAULTS}


class Changes(NamedTuple):
    """The marks before the first step, and the changes that lead to each frame.

    marks: each group as first seen, in painting order. groups: the same in the form of the data. frames: the changes in
    each frame. tips: the tooltips that the groups refer to by number.
    """

    marks: Sequence[Marks]
    groups: Sequence[Mapping[str, Any]]
    frames: Sequence[Sequence[Change]]
    tips: Sequence[Tip]


@np.errstate(invalid="ignore")  # a float beyond the range of int64 does not count as whole
def changes(frames: Iterable[tuple[Frame, int]]) -> Changes:
    """Compare frames and films, each given with its number of frames; the first one is the state before the first step.

    A mark that is missing from a frame fades; a new one appears, coming from its origin if it has one.
    """
    firsts, events, count = _seen(frames)
    ordered = sorted(firsts, key=lambda name: firsts[name].role in AROUND)
    tips = {tip: i for i, tip in enumerate(dict.fromkeys(firsts[name].tip for name in ordered if firsts[name].tip))}
    groups, changed = [], defaultdict[int, list[Change]](list)
    for number, name in enumerate(ordered):
        first, own = firsts[name], events[name]
        there = own[0][0][0] < 0
        groups.append(_group(first, tips, there=there))
        for frame, *change in _changed(first, first.shown if there else False, own[1:] if there else own):
            changed[frame].append([number, *change])
    return Changes([firsts[name] for name in ordered], groups, [changed[i] for i in range(count)], [*tips])


def _seen(frames: Iterable[tuple[Frame, int]]) -> tuple[dict[str, Marks], dict[str, list[Event]], int]:
    """Return each group as first seen, what becomes of it, and the number of frames after the first."""
    firsts, events = dict[str, Marks](), dict[str, list[Event]]()
    before, at = Frame(), -1
    for frame, count in frames:
        for name, marks in frame.items():
            if before.get(name) is marks:
                continue
            moves = count > 1 and marks.moving
            if name not in events:
                firsts[name], events[name] = marks.at(0) if moves else marks, []
            lines = range(count) if marks.lines is None else marks.lines
            events[name].append(([at + line for line in lines] if moves else [at], marks))
        for name in before.keys() - frame.keys():
            events[name].append(([at], None))
        before, at = frame, at + count
    return firsts, events, at


def _group(first: Marks, tips: Mapping[Tip, int], *, there: bool) -> dict[str, Any]:
    """Return what differs from the defaults before the first step."""
    look = {field: first.look[field] for field, usual in DEFAULTS.items() if first.look[field] is not usual}
    if first.seq is not None:
        look["seq"] = first.seq
    if first.keys and (first.role in NUMBERED or "{k}" in str(first.tip)):
        look["k"] = first.keys[-1]
    if there and first.shown is not False:
        look["shown"] = first.shown
    group = {"role": first.role} | ({"n": first.count} if first.count > 1 else {})
    if first.tip:
        group["tip"] = tips[first.tip]
    group |= {"v": 0} if first.role in VALUED else {}
    values = {field: _plain(field, column) for field, column in look.items()}
    return group | {field: value for field, value in values.items() if value not in (None, DEFAULTS.get(field))}


def _plain(field: str, column: Column) -> Any:
    """Return a column as it is written: one value if all are equal, else a list."""
    if isinstance(column, np.ndarray):
        return _one(_values(field, column))
    if isinstance(column, float):
        return short(column)
    return None if field in MAY_BE_NONE and column == NONE else column


def _values(field: str, column: np.ndarray) -> list[Any]:
    """Return the values of a column: whole numbers without a decimal point, the others with three digits."""
    if column.dtype.kind == "f":
        whole = column.astype(np.int64)
        column = whole if (whole == column).all() else column.round(DIGITS)
    values: list[Any] = column.tolist()
    return [None if value == NONE else value for value in values] if field in MAY_BE_NONE else values


def _one(values: list[Any]) -> Any:
    return values[0] if values.count(values[0]) == len(values) else values


def _changed(first: Marks, seen: Any, events: Sequence[Event]) -> Iterator[tuple[int, list[int] | None, Any]]:
    """Yield the frame, the marks and the new values of each change, together for fields of the same marks."""
    if not events:
        return
    if isinstance(seen, bool) and all(marks is None or _as_a_whole(marks, first) for _, marks in events):
        for (frame,), marks in events:
            if seen != (marks is not None):
                seen = not seen
                yield frame, None, {"shown": seen}
        return
    frames = [*chain.from_iterable(lines for lines, _ in events)]
    together: dict[bytes, tuple[np.ndarray, dict[str, list[Any]]]] = {}
    for field, where, columns in _compared(first, seen, events, len(frames)):
        if len(columns[0]):
            fields = together.setdefault(where.tobytes(), (where, {}))[1]
            fields[field] = [*map(_values, "pxy" if field == "from" else (field,), columns)]
    for where, fields in together.values():
        lines, marked = where.nonzero()
        numbers, ends = marked.tolist(), np.bincount(lines).cumsum().tolist()
        for line, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            if start < end:
                new: dict[str, Any] = {
                    field: _one(parts[0][start:end]) if len(parts) == 1 else [_one(part[start:end]) for part in parts]
                    for field, parts in fields.items()
                }
                yield frames[line], None if end - start == first.count else numbers[start:end], new


def _as_a_whole(marks: Marks, first: Marks) -> bool:
    """Return whether all marks of a group are visible, where they were, and come from nowhere."""
    return marks.look is first.look and marks.shown is True and not marks.origin


def _compared(first: Marks, seen: Any, events: Sequence[Event], frames: int) -> Iterator[Found]:
    """Yield what changes in each of the frames; first, seen: the group before them, and which marks are visible."""
    states, count = [first, *(marks or first for _, marks in events)], first.count
    ends = [*accumulate((len(lines) for lines, _ in events), initial=1)]
    spans = [slice(0, 1), *map(slice, ends, ends[1:])]

    def table(field: str, columns: Iterable[Column]) -> np.ndarray:
        """Return (1 + frames, marks): each column on as many lines as its event has, with one value per mark."""
        filled = np.empty((1 + frames, count), KINDS.get(field, bool))
        for span, column in zip(spans, columns, strict=True):
            filled[span] = column
        return filled

    shown = table("shown", [seen, *(marks.shown if marks else False for _, marks in events)])
    start, looks = first.look, {id(marks.look): marks.look for marks in states}
    if fields := [field for field in start for look in looks.values() if look[field] is not start[field]]:
        always, every = bool(shown[1:].all()), np.arange(count)
        last = None if always else np.maximum.accumulate(np.arange(1 + frames)[:, None] * shown)
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
