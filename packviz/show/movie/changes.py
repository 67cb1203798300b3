"""What changes from one frame to the next: found by comparing them, and kept as columns."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from packviz.show.movie.columns import plain, runs, shared
from packviz.show.movie.marks import DEFAULTS, Frame, Marks, Tip

__all__ = ["Block", "Changes"]

Block = list[Any]  # the groups, which of their marks, and of each field one value for all of these or one for each
FEW = 32  # marks of a group up to which whatever changes in some of them is told of all of these together
VALUED = ("value", "count")  # roles that show a value, even if it is 0
NUMBERED = ("axis", "count", "note")  # where there is no room for all of a group, each second or third one is shown


class Changes:
    """Follow groups from frame to frame; opening: how they stand before the first step.

    A mark that is not in a frame fades; one that is in it and was not appears, coming from its origin if it has one.
    """

    def __init__(self, opening: Frame) -> None:
        self._groups: dict[str, _Group] = {}
        for marks in opening.values():
            self._add(marks, there=True)

    def _add(self, marks: Marks, *, there: bool) -> "_Group":
        group = self._groups[marks.name] = _Group(len(self._groups), marks, there=there)
        return group

    def to(self, frame: Frame) -> list[Block]:
        """Return what changes on the way to the next frame."""
        blocks: list[Block] = []
        for name, marks in frame.items():
            group = self._groups.get(name) or self._add(marks, there=False)
            if group.marks is not marks or marks.anew or not group.there:
                blocks += group.to(marks)
        for name, group in self._groups.items():
            if group.there and name not in frame:
                blocks += group.gone()
        return _alike(blocks)

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
    """One group on its way: how its marks stand now, and which of them are seen."""

    def __init__(self, number: int, marks: Marks, *, there: bool) -> None:
        self.number = number
        self.marks = self.first = marks
        self.look = dict(marks.look)
        self.seen = self.opening = marks.shown if there else False
        self.there = there

    def to(self, marks: Marks) -> list[Block]:
        """Return what changes on the way to this look; of marks that are not seen nothing is told."""
        self.marks, self.there = marks, True
        shown, before = marks.shown, self.seen
        found: list[tuple[Any, str, Any]] = []
        for field, new in marks.look.items():
            old = self.look[field]
            if new is old:
                continue
            where = new != old
            if where is False:
                continue
            if shown is not True:
                where = where & shown
            if not where.any() if isinstance(where, np.ndarray) else not where:
                continue
            self.look[field] = new if shown is True else np.where(where, new, old)
            found.append((where, field, self.look[field]))
        if shown is not before:
            differs = np.not_equal(shown, before)
            if differs.any():
                found.append((differs, "shown", shown))
                self.seen = shown
        if marks.origin is not None:
            coming = np.logical_and(shown if marks.anew else np.greater(shown, before), np.isfinite(marks.origin.x))
            if coming.any():
                found.append((coming, "from", (marks.origin.panel, marks.origin.x, marks.origin.y)))
        return self._blocks(found)

    def gone(self) -> list[Block]:
        """Return what takes away those that are seen."""
        where, self.seen, self.there = self.seen, False, False
        return self._blocks([(where, "shown", False)] if np.any(where) else [])

    def _blocks(self, found: list[tuple[Any, str, Any]]) -> list[Block]:
        """Return fields that change in the same marks together; where there are few marks, in any of them."""
        count = self.first.count
        if count == 1:
            told = {field: plain(field, column) for _, field, column in found}
            return [[self.number, None, told]] if told else []
        masks = [where if isinstance(where, np.ndarray) and where.ndim else None for where, _, _ in found]
        if count <= FEW and len(found) > 1:
            some = _union([where for where, (_, field, _) in zip(masks, found, strict=True) if field != "from"])
            masks = [where if field == "from" else some for where, (_, field, _) in zip(masks, found, strict=True)]
        together: dict[bytes, Block] = {}
        for where, (_, field, column) in zip(masks, found, strict=True):
            key = b"" if where is None or where.all() else where.tobytes()
            if key not in together:
                together[key] = [self.number, None if where is None or not key else np.flatnonzero(where), {}]
            together[key][2][field] = plain(field, _part(column, together[key][1]))
        return [[at, None if picked is None else runs(picked.tolist()), told] for at, picked, told in together.values()]

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


def _part(column: Any, picked: Any) -> Any:
    if isinstance(column, tuple):
        return tuple(_part(each, picked) for each in column)
    return column[picked] if isinstance(column, np.ndarray) and picked is not None else column


def _union(masks: list[Any]) -> Any:
    """Return where any of them is so; None means everywhere."""
    return None if not masks or any(where is None for where in masks) else np.logical_or.reduce(masks)


def _alike(blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks, those of several groups that say the same together."""
    found: dict[str, Block] = {}
    for number, picked, fields in blocks:
        (value, *more) = fields.values()
        key = (
            f"{picked} {fields}"
            if not more and isinstance(value, str | bool | int | float)
            else f"{len(found)} {number}"
        )
        if key in found:
            found[key][0].append(number)
        else:
            found[key] = [[number], picked, fields]
    return [
        [numbers[0] if len(numbers) == 1 else numbers, picked, fields] for numbers, picked, fields in found.values()
    ]
