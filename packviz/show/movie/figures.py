"""The numbers of a trace that a movie shows, rounded to the four decimals that can be read there."""

from functools import cached_property
from math import isfinite

import torch
from torch import Tensor

from packviz.show.movie.facts import Facts
from packviz.show.movie.model import Numbers

__all__ = ["Figures", "exact", "number", "rows_of"]

MAX_UNITS = 8  # of a hidden state
MAX_FEATURES = 12  # of a token
SMALL_FROM = 25  # sequences from which cells are too small for text


class Figures(Facts):
    """The facts, and the numbers as they are shown."""

    @property
    def small(self) -> bool:
        """Whether the cells are too small for text."""
        return len(self.by_rank) >= SMALL_FROM

    @property
    def most(self) -> int:
        """How many units of a state are shown at most: fewer where a cell has no room for them."""
        return MAX_UNITS // 2 if self.small else MAX_UNITS

    @cached_property
    def units(self) -> int:
        """How many hidden units are shown."""
        return min(self.watched.h.shape[1], self.most)

    @property
    def features_shown(self) -> int:
        """How many features of a token are shown."""
        return min(self.features, MAX_UNITS // 2 if self.small else MAX_FEATURES)

    @cached_property
    def _features(self) -> list[list[Numbers]]:
        return [rows_of(row) for row in self.trace.padded.grid[..., : self.features_shown]]

    def features_at(self, b: int, t: int) -> Numbers:
        """Return the numbers that enter the cell for a sequence at a time step, as many as are shown."""
        return self._features[b][t]

    @cached_property
    def states(self) -> list[Numbers]:
        """(N) the watched h of every packed row, as many units as are shown."""
        return rows_of(self.watched.h[:, : self.units])

    @cached_property
    def memories(self) -> list[Numbers]:
        """(N) the watched c of every packed row."""
        assert self.watched.c is not None
        return rows_of(self.watched.c[:, : self.units])

    @cached_property
    def gate_rows(self) -> dict[str, list[Numbers]]:
        """By gate: (N) what the gate was for every packed row."""
        return {gate: rows_of(self.watched.gates[gate][:, : self.units]) for gate in self.gates}

    @cached_property
    def outputs(self) -> list[Numbers]:
        """(N) the output of every packed row: as many units of each direction as fit."""
        return rows_of(self.halves(self.trace.output).flatten(1))

    @cached_property
    def below(self) -> list[Numbers]:
        """(N) what enters the watched layer: the output of the layer below, as much of each direction as fits."""
        halves = self.trace.layers[self.layer - 1]
        return rows_of(torch.cat([half.h[:, : self.most // len(halves)] for half in halves], 1))

    def halves(self, rows: Tensor) -> Tensor:
        """Return (rows, D, units) of (rows, D*H): the units of each direction that are shown."""
        return rows.view(len(rows), self.directions, -1)[..., : self.most // self.directions]


def rows_of(rows: Tensor) -> list[Numbers]:
    """Return the rows of a matrix, rounded to the four decimals that are shown; None stands for NaN and infinities."""
    rounded = rows.detach().double().round(decimals=4)
    if bool(rounded.isfinite().all()):
        return [tuple(row) for row in rounded.tolist()]
    return [tuple(value if isfinite(value) else None for value in row) for row in rounded.tolist()]


def exact(value: float) -> str:
    """Return all digits of a number, without a needless `.0`."""
    return repr(value).removesuffix(".0")


def number(value: float) -> str:
    """Return a number as it stands in a cell: short, without a needless `.0`."""
    if not isfinite(value) or value != int(value):
        return f"{value:.4g}"
    return str(int(value)) if abs(value) < 1e6 else f"{value:.3g}"
