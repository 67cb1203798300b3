"""Movie: the finished film with all that a player needs, as pure data."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from packviz.show.movie.columns import grouped, in_order
from packviz.show.movie.film import Film
from packviz.show.movie.model import Cell, CodeLine, Scene, Stage, Step
from packviz.show.movie.page import framed, standalone
from packviz.show.movie.plan import Plan
from packviz.show.movie.tips import Lines, lines
from packviz.show.movie.words import lost
from packviz.theme import SEQUENCE_HUES

__all__ = ["FORMAT", "Movie", "Sequence", "Token", "reel"]

FORMAT = 1  # of the data, as movie.schema.json describes it
AROUND = ("ring", "mark")  # drawn around cells: painted after all of them, for nothing to cover them
THINNED = ("axis", "count", "note")  # where there is no room for all of a family, each second or third one is shown


@dataclass(frozen=True, slots=True)
class Sequence:
    """A sequence as the player draws it: its letter, its hue (an index), and how often the hues have repeated."""

    label: str
    hue: int
    lap: int


@dataclass(frozen=True, slots=True)
class Token:
    """One token of the batch: b its sequence, t its time step, n its packed row (None where nothing was packed).

    tip: all of that in words, with the arithmetic of its address.
    """

    b: int
    t: int
    n: int | None
    tip: str


@dataclass(frozen=True)
class Movie:
    """Cells, steps and scenes; the same for the app, a notebook and a file.

    scales: the number at which the diverging scale ends, for what enters the cell and for its states.
    notes: what is not shown, or otherwise to be known. proof: how the numbers compare with torch's own run.
    exact: whether they are the same to the bit, and no padding was packed among the tokens.
    """

    title: str
    cells: tuple[Cell, ...]
    steps: tuple[Step, ...]
    scenes: Mapping[str, Scene]
    code: tuple[CodeLine, ...]
    sequences: tuple[Sequence, ...]
    tokens: tuple[Token, ...]
    scales: Mapping[str, float]
    notes: tuple[str, ...]
    proof: str
    exact: bool

    def step_at(self, stage: Stage, time: int | None = None, name: str = "") -> int:
        """Return the number, from 1, of the step of a stage that has this name or time; without one, where it ends."""
        here = [(i, step) for i, step in enumerate(self.steps, 1) if step.stage == stage]
        named = [i for i, step in here if name and step.name == name]
        timed = [i for i, step in here if time is not None and step.time == time]
        return (named or timed or [i for i, _ in here[-1:]] or [len(self.steps)])[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the movie as lists, dicts, strings and numbers, ready for JSON; do not change it."""
        return self._data

    def to_html(self) -> str:
        """Return one page with the player in it, which needs no server and no network."""
        return standalone(self.title, self._data)

    def save_html(self, path: str | Path) -> Path:
        """Write `to_html` to a file and return its path."""
        target = Path(path)
        target.write_text(self.to_html(), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        return framed(self.title, self._data)

    @cached_property
    def _data(self) -> dict[str, Any]:
        number = {cell.id: i for i, cell in enumerate(self.cells)}
        families: dict[tuple[Lines, str], int] = {}
        return {
            "format": FORMAT,
            "title": self.title,
            "stages": {stage: stage.capitalize() for stage in dict.fromkeys(step.stage for step in self.steps)},
            "cells": in_order(cell.to_dict() | _family(cell, families) for cell in self.cells),
            "families": [tip for tip, _ in families],
            "steps": [_step(step, number) for step in self.steps],
            "scenes": {name: _scene(scene) for name, scene in self.scenes.items()},
            "code": [[line.text, line.shape] for line in self.code],
            "sequences": [[each.label, each.hue, each.lap] for each in self.sequences],
            "tokens": [[each.b, each.t, each.n, each.tip] for each in self.tokens],
            "scales": dict(self.scales),
            "notes": list(self.notes),
            "proof": self.proof,
            "exact": self.exact,
        }


def reel(film: Film, plan: Plan, code: Mapping[str, CodeLine]) -> Movie:
    """Return the finished movie of a film."""
    return Movie(
        title=_title(plan),
        cells=tuple(sorted(film.cells.values(), key=lambda cell: cell.role in AROUND)),
        steps=tuple(film.steps),
        scenes={name: film.scenes[name] for name in _scenes(film)},
        code=tuple(code.values()),
        sequences=tuple(
            Sequence(plan.label(b), b % len(SEQUENCE_HUES), b // len(SEQUENCE_HUES)) for b in range(plan.total[0])
        ),
        tokens=tuple(_token(plan, b, t) for b, t in plan.positions),
        scales=_scales(plan),
        notes=(*_window(plan), *plan.trace.notes),
        proof=_proof(plan),
        exact=not plan.refused and plan.trace.exact and not plan.packed_pads,
    )


def _family(cell: Cell, families: dict[tuple[Lines, str], int]) -> dict[str, int]:
    """Return the cell's number among the families that say the same and are thinned out together, and its own in it."""
    tip, thinned = lines(cell), cell.role in THINNED
    if not tip:
        return {}
    family = {"f": families.setdefault((tip, cell.family if thinned else ""), len(families))}
    counted = thinned or any("{k}" in wording for wordings in tip for wording in wordings)
    return family if cell.number is None or not counted else family | {"k": cell.number}


def _step(step: Step, number: Mapping[str, int]) -> dict[str, Any]:
    beats = [grouped(change.to_dict(number[change.id]) for change in beat) for beat in step.beats]
    fields: dict[str, Any] = {"stage": step.stage, "caption": step.caption, "code": step.code, "beats": beats}
    if step.detail:
        fields["detail"] = [[line.text, line.shape] for line in step.detail]
    named = {"tone": step.tone, "error": step.error, "scene": step.scene}
    return fields | {name: value for name, value in named.items() if value}


def _scenes(film: Film) -> dict[str, None]:
    """Return the names of the scenes that are shown, in order, each once."""
    return dict.fromkeys([*film.stages, *(step.scene for step in film.steps if step.scene)])


def _scene(scene: Scene) -> dict[str, Any]:
    return {"wide": [view.to_dict() for view in scene.wide], "tall": [view.to_dict() for view in scene.tall]}


def _title(plan: Plan) -> str:
    rows, _ = plan.total
    sequences, tokens = "sequence" if rows == 1 else "sequences", "token" if plan.tokens == 1 else "tokens"
    return f"{rows} {sequences}, {plan.tokens} {tokens}, {plan.cell.upper()}"


def _token(plan: Plan, b: int, t: int) -> Token:
    text, sub = plan.texts(b, t)
    said = f"{text} (id {sub})" if sub else text
    typed = f"“{said}”, " if not plan.raw_vectors and said else ""
    here = f"{typed}sequence {plan.label(b)}, time step {t}"
    if plan.refused or b not in plan.rank or t >= len(plan.batch_sizes) or plan.rank[b] >= plan.batch_sizes[t]:
        return Token(b, t, None, here)
    n = plan.packed_row(b, t)
    address = f"data[offset[{t}] + position] = data[{plan.offsets[t]} + {plan.rank[b]}] = data[{n}]"
    return Token(b, t, n, f"{here}, packed row {n}: {address}")


def _scales(plan: Plan) -> dict[str, float]:
    largest = float(plan.trace.padded.values.abs().nan_to_num(posinf=0.0).amax()) or 1.0
    if plan.refused:
        return {"input": largest, "state": 1.0}
    states = [
        tensor for layer in plan.trace.layers for half in layer for tensor in (half.h, half.c) if tensor is not None
    ]
    return {
        "input": largest,
        "state": max(1.0, *(float(tensor.abs().nan_to_num(posinf=0.0).amax()) for tensor in states)),
    }


def _window(plan: Plan) -> list[str]:
    rows, columns = plan.total
    notes = []
    if len(plan.shown) < rows:
        notes.append(f"showing {len(plan.shown)} of {rows} sequences, the longest")
    if plan.columns < columns:
        notes.append(f"showing {plan.columns} of {columns} time steps")
    if plan.small:
        notes.append("cells too small for text: point at one to read it")
    if plan.raw_vectors and plan.features > plan.features_shown:
        notes.append(f"{plan.features_shown} of {plan.features} features")
    if not plan.refused and len(plan.trace.h_n) > 1:
        notes.append(f"the run is watched in layer {plan.layer}, {'backward' if plan.direction else 'forward'}")
    if not plan.refused and plan.watched.h.shape[1] > plan.units:
        notes.append(f"{plan.units} of {plan.watched.h.shape[1]} hidden units")
    return notes


def _proof(plan: Plan) -> str:
    name = f"torch.nn.{plan.cell.upper()}"
    if plan.refused:
        return "torch refused to pack: there is nothing to compare"
    if plan.trace.exact and plan.packed_pads:
        return f"what {name} makes of this packed input: {lost(plan)}"
    if plan.trace.exact:
        return f"equal to {name}, bit for bit"
    return f"differs from {name} by at most {max(plan.trace.proof.values()):.1e}"
