"""Padded beside packed in numbers: what both sides hold at every time step, and how far apart they are."""

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.verify import apart, differing, tolerance_of
from packviz.facts.padded_run import layer_states
from packviz.show.movie.figures import rows_of
from packviz.show.movie.model import Numbers
from packviz.show.movie.plan import Plan

__all__ = ["PACKED", "PADDED", "SIDES", "TwinFigures"]

PADDED, PACKED = SIDES = ("padded", "packed")


@dataclass(frozen=True)
class TwinFigures(Plan):
    """The numbers of a trace beside those of the same module over the padded grid."""

    @cached_property
    def padded(self) -> tuple[tuple[Tensor, ...], ...]:
        """[layer][direction] (B,T,P): what torch makes of every cell of the padded grid, pads too."""
        with exact_arithmetic():
            return tuple(tuple(half.detach() for half in layer) for layer in layer_states(self.trace))

    @cached_property
    def ours(self) -> Tensor:
        """(B,T,P) the watched state of the padded side after every time step."""
        return self.padded[self.layer][self.direction]

    @cached_property
    def theirs(self) -> Tensor:
        """(B,T,P) the watched state that the packed side holds then: of a row that rests, where it rests."""
        states = self.trace.packed_sequence._replace(data=self.watched.h)
        unpacked, _ = pad_packed_sequence(states, batch_first=True, total_length=self.total[1])
        steps, lengths = torch.arange(self.total[1]), self.trace.padded.lengths.unsqueeze(1)
        resting = (self.watched.h_0 if self.direction else self.watched.h_n).unsqueeze(1)
        return torch.where((steps < lengths).unsqueeze(2), unpacked, resting)

    @cached_property
    def apart(self) -> list[list[float]]:
        """(B,T) the largest distance of a unit between both sides; nan where one side is no number."""
        return _farthest(self.ours, self.theirs).tolist()

    @cached_property
    def same(self) -> list[list[bool]]:
        """(B,T) whether both sides hold the same state, but for the last bits."""
        return _same(self.ours.flatten(0, 1), self.theirs.flatten(0, 1)).view(self.total).tolist()

    @cached_property
    def apart_somewhere(self) -> bool:
        """Whether the two sides part at any time step that is shown."""
        return not (all(self.last_same) and all(all(row[: self.columns]) for row in self.same))

    @cached_property
    def moved(self) -> list[list[float]]:
        """(B,T) how far a time step moved the farthest unit of the padded side's state."""
        before = self.watched.h_0.unsqueeze(1)
        order = (self.ours[:, 1:], before) if self.direction else (before, self.ours[:, :-1])
        return _farthest(self.ours, torch.cat(order, 1)).tolist()

    @cached_property
    def last(self) -> tuple[Tensor, Tensor]:
        """(B,P) each: the row of h_n of the padded side and of the packed one, in the original order."""
        return self.ours[:, 0 if self.direction else -1], self.watched.h_n

    @cached_property
    def last_apart(self) -> list[float]:
        """(B,) the largest distance of a unit between the two h_n."""
        return _farthest(*self.last).tolist()

    @cached_property
    def last_same(self) -> list[bool]:
        """(B,) whether the two h_n are the same, but for the last bits."""
        return _same(*self.last).tolist()

    @property
    def times(self) -> list[int]:
        """The time steps that are shown, in the order in which they are taken."""
        return list(reversed(range(self.columns))) if self.direction else list(range(self.columns))

    def held(self, side: str, t: int) -> list[Numbers]:
        """Return (B,) the state of each sequence after time step t, as many units as are shown."""
        return rows_of((self.ours if side == PADDED else self.theirs)[:, t, : self.units])

    def start(self, side: str) -> list[Numbers]:
        """Return (B,) the state before the first time step that is shown: h_0, if none is left out before it."""
        if self.direction and self.columns < self.total[1]:
            return self.held(side, self.columns)
        return rows_of(self.watched.h_0[:, : self.units])

    @cached_property
    def below_padded(self) -> list[list[Numbers]]:
        """(B,T) what enters a higher layer on the padded side: as much of each half of the layer below as fits."""
        halves = self.padded[self.layer - 1]
        return [rows_of(row) for row in torch.cat([half[..., : self.most // len(halves)] for half in halves], 2)]

    def row(self, side: str, b: int) -> int:
        """Return the row of a sequence on a side: the padded side keeps the order in which they came."""
        return self.place[b] if side == PADDED else self.rank[b]

    def runs(self, side: str, b: int) -> range:
        """Return the time steps at which a side computes a state of a sequence, of those that are shown."""
        return range(self.columns if side == PADDED else min(self.lengths[b], self.columns))

    @cached_property
    def pad_readers(self) -> frozenset[tuple[str, int]]:
        """(side, sequence) wherever a side reads a pad among the time steps that are shown."""
        pairs = ((side, b) for side in SIDES for b in self.by_rank)
        return frozenset((side, b) for side, b in pairs if not all(self.mask[b][t] for t in self.runs(side, b)))

    def off_runs(self, b: int) -> list[tuple[int, int]]:
        """Return (first time step, how many) of every run of states of the padded side that packing has not."""
        off = [t >= self.lengths[b] or not self.same[b][t] for t in range(self.columns)]
        groups = [(wrong, [t for t, _ in run]) for wrong, run in groupby(enumerate(off), key=lambda at: at[1])]
        return [(run[0], len(run)) for wrong, run in groups if wrong]


def _farthest(a: Tensor, b: Tensor) -> Tensor:
    """Return the largest distance along the last axis; what is identical, nan and infinity too, is 0 apart."""
    return apart(a, b).amax(-1)


def _same(a: Tensor, b: Tensor) -> Tensor:
    """Return (rows,) whether a row of a and of b are the same, but for rounding."""
    same = torch.ones(len(a), dtype=torch.bool)
    same[list(differing(a, b, tolerance_of(a.dtype)))] = False
    return same
