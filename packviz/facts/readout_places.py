"""Six ways to read a vector for each sequence: the record of one, and where the numbers of a run stand in the grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from packviz.compute.record import Trace

__all__ = ["Layout", "Readout", "Spot", "Verdict"]


@dataclass(frozen=True)
class Spot:
    """Hold one place of the unpacked grid that a readout reads: sequence b, column t, and which half of the row.

    half  0 forward, 1 backward; without a second direction it is always 0
    """

    b: int
    t: int
    half: int


@dataclass(frozen=True)
class Verdict:
    """Hold, for one sequence, whether the readout is its state after its own tokens, and why in a word."""

    sequence: str
    right: bool
    words: str


@dataclass(frozen=True, eq=False)
class Readout:
    """Hold one way to read one vector for each sequence.

    key, title  a short name, and how it is written
    code        the same in PyTorch, on the names out, lens and h_n: it makes state
    values      (B, width), the state that this code made; None where it is not available
    right       every sequence's row is its state after its last step, in every direction; for mean and max: no filler
                entered them. Never where padding was packed among the tokens: then no readout is right
    reason      why, in one or two sentences with this batch's letters and numbers
    caution     what no readout can mend, where padding was packed among the tokens; else ""
    rows        one verdict for each sequence
    halves      the directions that the width is made of
    steps       for each sequence and half: how many steps of the top layer this half has taken; 0 for filler
    seen        for each sequence and half: how many packed rows of the sequence can have changed it; with two
                directions and several layers that is more than its steps, for the layer below read both ways
    cells       for each sequence: the places of the unpacked grid where these numbers stand
    """

    key: str
    title: str
    code: str
    values: Tensor | None
    right: bool
    reason: str
    caution: str = ""
    rows: tuple[Verdict, ...] = ()
    halves: tuple[str, ...] = ()
    steps: tuple[tuple[int, ...], ...] = ()
    seen: tuple[tuple[int, ...], ...] = ()
    cells: tuple[tuple[Spot, ...], ...] = ()

    @property
    def available(self) -> bool:
        """Return whether there is anything to read."""
        return self.values is not None


@dataclass(frozen=True, eq=False)
class Layout:
    """Hold where things stand in the unpacked grid: D halves, the lengths, the width, and who reads what."""

    trace: Trace

    @cached_property
    def lengths(self) -> list[int]:
        """Return the B lengths, in the order in which the sequences came."""
        return [int(length) for length in self.trace.unpacked.lengths]

    @property
    def batch_first(self) -> bool:
        """Return whether the output is (B, T, D*H) as it was unpacked."""
        return self.trace.padded.batch_first

    @property
    def ways(self) -> int:
        """Return D, 1 or 2."""
        return len(self.trace.layers[-1])

    @cached_property
    def grid(self) -> Tensor:
        """Return the unpacked output as (B, T, D*H), whatever batch_first says."""
        output = self.trace.unpacked.output
        return output if self.batch_first else output.transpose(0, 1)

    @cached_property
    def valid(self) -> Tensor:
        """Return (B, T) bool: True where a state stands, False where filler does."""
        return torch.arange(self.width, device="cpu") < self.trace.unpacked.lengths.unsqueeze(1)

    @property
    def width(self) -> int:
        """Return the number of columns of the unpacked grid."""
        return self.grid.size(1)

    @cached_property
    def packed_pads(self) -> list[int]:
        """Return how many pads were packed for each sequence; as many of its tokens were lost."""
        pads = self.trace.packed.sequence[self.trace.packed_is_pad]
        return torch.bincount(pads, minlength=len(self.lengths)).tolist()

    @property
    def pads_packed(self) -> bool:
        """Return whether padding was packed among the tokens."""
        return any(self.packed_pads)

    @property
    def noun(self) -> str:
        """Return what a step reads: a token, unless padding was packed among them."""
        return "packed row" if self.pads_packed else "token"

    def steps(self, spot: Spot) -> int:
        """Return how many steps the half has taken where it stands; 0 for filler."""
        length = self.lengths[spot.b]
        if spot.t >= length:
            return 0
        return length - spot.t if spot.half else spot.t + 1

    def seen(self, spot: Spot) -> int:
        """Return how many packed rows of its sequence can have changed the number there."""
        steps = self.steps(spot)
        reads_both_ways = self.ways == 2 and len(self.trace.layers) > 1
        return self.lengths[spot.b] if steps and reads_both_ways else steps

    def final(self, b: int, half: int) -> Spot:
        """Return where a direction's state after its last step stands: backward that is column 0."""
        return Spot(b, 0 if half else self.lengths[b] - 1, half)
