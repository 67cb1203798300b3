"""The film in the making: cells that are there, steps that say what changes in them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from packviz.movie.model import CHANGEABLE, Beat, Cell, Change, CodeLine, Scene, Stage, Step, Tone

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
        self.scenes: dict[Stage, Scene] = {}
        self._now: dict[str, dict[str, Any]] = {}
        self._unseen: list[Change] = []

    def add(self, *cells: Cell) -> None:
        """Put cells on the stage, each id once. Those that are shown are there in the first frame."""
        for cell in cells:
            if cell.id in self.cells:
                raise KeyError(f"cell {cell.id!r} is there already")
            if cell.shown and (self.steps or self._unseen):
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
    ) -> None:
        """Add a step; its beats are cut down to what differs from the cells as they are now."""
        played = [beat for beat in map(self._beat, beats) if beat]
        if stage not in self.stages:
            self._unseen += [change for beat in played for change in beat]
            return
        self.steps.append(Step(stage, caption, code, (*self._catch_up(), *played), tuple(detail), tone, error))

    def _beat(self, changes: Iterable[Change]) -> Beat:
        kept = []
        for change in changes:
            now = self._now[change.id]
            new = {name: value for name, value in change.named().items() if now[name] != value}
            if new or change.origin:
                now.update(new)
                kept.append(Change(change.id, origin=change.origin, **new))
        return tuple(kept)

    def _catch_up(self) -> tuple[Beat, ...]:
        unseen, self._unseen = self._unseen, []
        if self.steps:
            return (tuple(unseen),) if unseen else ()
        for change in unseen:
            self.cells[change.id] = replace(self.cells[change.id], **change.named())
        return ()
