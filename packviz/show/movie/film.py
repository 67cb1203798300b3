"""The film in the making: cells that are there, steps that say what changes in them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from packviz.show.movie.model import CHANGEABLE, Beat, Cell, Change, CodeLine, Scene, Stage, Step, Tone

__all__ = ["Film"]


class Film:
    """Collects cells and steps; keeps each cell as it is now, so that a step names only what really changes.

    stages: those to be shown. What happens in the others happens unseen: before the first step it is simply how the
    first frame looks, later it is part of the next step that is shown.
    """

    def __init__(self, stages: Collection[Stage]) -> None:
        self.stages = stages
        self.cells: dict[str, Cell] = {}
        self.steps: list[Step] = []
        self.scenes: dict[str, Scene] = {}  # of every stage, and of steps that need one of their own
        self._now: dict[str, dict[str, Any]] = {}
        self._last_seen: dict[str, dict[str, Any]] = {}  # of cells that changed unseen

    def add(self, *cells: Cell) -> None:
        """Put cells on the stage, each id once. Those that are shown are there in the first frame."""
        for cell in cells:
            if cell.id in self.cells:
                raise KeyError(f"cell {cell.id!r} is there already")
            if cell.shown and (self.steps or self._last_seen):
                raise ValueError(f"cell {cell.id!r} would be in the first frame, but the film is past it")
            self.cells[cell.id] = cell
            self._now[cell.id] = {name: getattr(cell, name) for name in CHANGEABLE}

    def step(
        self,
        stage: Stage,
        caption: str,
        code: int,
        *beats: Iterable[Change],
        detail: Sequence[CodeLine] = (),
        tone: Tone = "",
        error: str = "",
        time: int | None = None,
        scene: str = "",
        name: str = "",
    ) -> None:
        """Add a step; its beats are cut down to what differs from the cells as they are now."""
        if stage not in self.stages:
            self._unseen(change for beat in beats for change in beat)
            return
        played = [self._catch_up(), *map(self._beat, beats)]
        shown = tuple(filter(None, played))
        self.steps.append(Step(stage, caption, code, shown, tuple(detail), tone, error, time, scene, name))

    def later(self, changes: Iterable[Change]) -> None:
        """Let cells change in the next step that is shown, if there is one."""
        self._unseen(changes)

    def _beat(self, changes: Iterable[Change]) -> Beat:
        kept = []
        for change in changes:
            now = self._now[change.id]
            new = _differing(change.named(), now)
            if new or change.origin:
                now.update(new)
                kept.append(Change(change.id, origin=change.origin, **new))
        return tuple(kept)

    def _unseen(self, changes: Iterable[Change]) -> None:
        for change in changes:
            self._last_seen.setdefault(change.id, dict(self._now[change.id]))
            self._now[change.id].update(change.named())

    def _catch_up(self) -> Beat:
        """Return what has changed since it was last seen; before the first step, make it the first frame."""
        seen, self._last_seen = self._last_seen, {}
        changes = [Change(name, **new) for name, was in seen.items() if (new := _differing(self._now[name], was))]
        if self.steps:
            return tuple(changes)
        for change in changes:
            self.cells[change.id] = replace(self.cells[change.id], **change.named())
        return ()


def _differing(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in new.items() if old[name] != value}
