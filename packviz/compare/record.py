"""The record of a comparison: both outputs, both final states, three readings, and what is to be said of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from packviz.compare.judging import apart, differing, largest, letters, written

__all__ = ["Comparison", "Finding", "Reading"]


@dataclass(frozen=True)
class Finding:
    """Hold one verdict.

    key        what it is about: forward, backward, pads, h_n_forward, last_column and so on
    same       whether both sides agree up to rounding
    largest    the largest difference; for packed_pads how many there are
    sequences  those that differ
    told       the sentence
    right      of a reading: whether it is right for every sequence, padded and packed; else ()
    """

    key: str
    same: bool
    largest: float
    sequences: tuple[int, ...]
    told: str
    right: tuple[bool, ...] = ()

    @property
    def verdict(self) -> tuple[bool, ...]:
        """Return same and right together: when this changes, the verdict has changed."""
        return (self.same, *self.right)


@dataclass(frozen=True, eq=False)
class Reading:
    """Hold one way to read a vector for each sequence, on both sides; W is H, or 2*H for both halves side by side.

    key, code  last_column, last_valid, h_n_forward or h_n_backward, and the line that reads it
    padded     (B, W), from the padded run
    packed     (B, W), from the packed run
    wanted     (B, W), each direction's state after it has read exactly the sequence's own tokens
    halves     "forward", "backward" or both
    tolerance  up to where two numbers are called equal
    """

    key: str
    code: str
    padded: Tensor
    packed: Tensor
    wanted: Tensor
    halves: tuple[str, ...]
    tolerance: float

    @property
    def apart(self) -> Tensor:
        """Return (B, halves): the largest difference between padded and packed."""
        return self._by_half(self.padded, self.packed)

    @property
    def off_padded(self) -> Tensor:
        """Return (B, halves): the largest difference of the padded reading from what is wanted."""
        return self._by_half(self.padded, self.wanted)

    @property
    def off_packed(self) -> Tensor:
        """Return (B, halves): the largest difference of the packed reading from what is wanted."""
        return self._by_half(self.packed, self.wanted)

    @property
    def wrong_padded(self) -> tuple[int, ...]:
        """Return the sequences for which the padded reading is not what is wanted."""
        return differing(self.padded, self.wanted, self.tolerance)

    @property
    def wrong_packed(self) -> tuple[int, ...]:
        """Return the sequences for which the packed reading is not what is wanted."""
        return differing(self.packed, self.wanted, self.tolerance)

    @property
    def differs(self) -> tuple[int, ...]:
        """Return the sequences for which both sides do not read the same."""
        return differing(self.padded, self.packed, self.tolerance)

    @property
    def told(self) -> str:
        """Return for which sequences each side reads the state after exactly their own tokens."""
        padded = self._side(self.wrong_padded, self.off_padded)
        return f"{self.code}: padded {padded}; packed {self._side(self.wrong_packed, self.off_packed)}."

    def _side(self, wrong: tuple[int, ...], off: Tensor) -> str:
        if not wrong:
            return "right for every sequence"
        return f"wrong for {letters(wrong)}, by up to {written(float(off[list(wrong)].max()))}"

    def _by_half(self, one: Tensor, other: Tensor) -> Tensor:
        return torch.stack([part.amax(1) for part in apart(one, other).chunk(len(self.halves), 1)], 1)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Hold one module's run over the padded grid beside its run over the packed one; all batch first.

    padded      (B, T, D*H), torch's output on the padded grid, pads computed on
    packed      (B, T, D*H), the packed output unpacked to the same width, with filler after each end
    valid       (B, T) bool: the cells that were packed, t < length
    real        (B, T) bool: the cells that hold a token; other ones than valid only after padding on the left
    filler      what unpacking puts where nothing was packed: padding_value
    h_n_padded, h_n_packed   (L*D, B, H), in the order in which the sequences came
    c_n_padded, c_n_packed   (L*D, B, H) for an LSTM, else None
    readings    naive last column, last valid step, h_n of the top layer for each direction
    states      states[l][d] (B, T, H): the padded side's h at every cell, pads too
    directions  D
    tolerance   up to where two numbers are called equal, as judging.tolerance_of says
    findings    the verdicts with what they rest on
    """

    padded: Tensor
    packed: Tensor
    valid: Tensor
    real: Tensor
    filler: float
    h_n_padded: Tensor
    h_n_packed: Tensor
    c_n_padded: Tensor | None
    c_n_packed: Tensor | None
    readings: tuple[Reading, ...]
    states: tuple[tuple[Tensor, ...], ...]
    directions: int
    tolerance: float
    findings: tuple[Finding, ...] = ()

    @cached_property
    def difference(self) -> Tensor:
        """Return padded - packed, (B, T, D*H)."""
        return self.padded - self.packed

    @cached_property
    def apart(self) -> Tensor:
        """Return (B, T): the largest difference in each cell, float64."""
        return apart(self.padded, self.packed).amax(2)

    @property
    def at_valid(self) -> float:
        """Return the largest difference at the cells that were packed."""
        return largest(self.padded[self.valid], self.packed[self.valid])

    @property
    def at_pads(self) -> float:
        """Return the largest difference at the other cells, where the packed side has filler; 0.0 without any."""
        return largest(self.padded[~self.valid], self.packed[~self.valid])

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Return the sentences of all findings."""
        return tuple(finding.told for finding in self.findings)

    def finding(self, key: str) -> Finding | None:
        """Return the finding of this key, or None where the run has no such thing."""
        return next((finding for finding in self.findings if finding.key == key), None)

    def half(self, d: int) -> tuple[Tensor, Tensor]:
        """Return (B, T, H) padded and packed: the forward half of the output for d = 0, the backward one for 1."""
        return self.padded.chunk(self.directions, 2)[d], self.packed.chunk(self.directions, 2)[d]
