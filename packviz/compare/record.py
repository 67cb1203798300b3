"""The record of a comparison: both outputs, both final states, three readings, and what is to be said of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from packviz.compare.judging import apart, differing, largest, letters, written
from packviz.compare.reasons import grouped

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

    @property
    def right_padded(self) -> bool | None:
        """Return whether the padded reading is right for every sequence; None for what is no reading."""
        return self.right[0] if self.right else None

    @property
    def right_packed(self) -> bool | None:
        """Return whether the packed reading is right for every sequence; None for what is no reading."""
        return self.right[1] if self.right else None


@dataclass(frozen=True, eq=False)
class Reading:
    """Hold one way to read a vector for each sequence, on both sides; W is H, or 2*H for both halves side by side.

    key, code  last_column, last_valid, h_n_forward or h_n_backward, and the line that reads it
    padded     (B, W), from the padded run
    packed     (B, W), from the packed run
    wanted     (B, W), each direction's state after it has read exactly the sequence's own tokens
    halves     "forward", "backward" or both
    tolerance  up to where two numbers are called equal
    lengths    (B,), of the sequences
    reasons_padded, reasons_packed   for each sequence and half, why a state that is wrong there is wrong
    """

    key: str
    code: str
    padded: Tensor
    packed: Tensor
    wanted: Tensor
    halves: tuple[str, ...]
    tolerance: float
    lengths: tuple[int, ...]
    reasons_padded: tuple[tuple[str, ...], ...]
    reasons_packed: tuple[tuple[str, ...], ...]

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
    def right_padded(self) -> bool:
        """Return whether the padded reading is what is wanted for every sequence."""
        return not self.wrong_padded

    @property
    def right_packed(self) -> bool:
        """Return whether the packed reading is what is wanted for every sequence."""
        return not self.wrong_packed

    @property
    def differs(self) -> tuple[int, ...]:
        """Return the sequences for which both sides do not read the same."""
        return differing(self.padded, self.packed, self.tolerance)

    @property
    def told(self) -> str:
        """Return for which sequences each side reads the state after exactly their own tokens, and why not."""
        padded = self._side(self.wrong_padded, self.padded, self.off_padded, self.reasons_padded)
        packed = self._side(self.wrong_packed, self.packed, self.off_packed, self.reasons_packed)
        return f"{self.code}: padded {padded}; packed {packed}."

    def _side(self, wrong: tuple[int, ...], ours: Tensor, off: Tensor, reasons: tuple[tuple[str, ...], ...]) -> str:
        short = [b for b, length in enumerate(self.lengths) if length == 1 and b not in wrong]
        why_right = short if len(self.halves) == 2 and self.key.startswith("last") else []
        if not wrong:
            return f"right for every sequence{', for each has length 1' if len(why_right) == len(ours) else ''}"
        spoiled = [
            set(differing(part, wanted, self.tolerance))
            for part, wanted in zip(*(whole.chunk(len(self.halves), 1) for whole in (ours, self.wanted)), strict=True)
        ]
        whys = [_joined([why for why, bad in zip(reasons[b], spoiled, strict=True) if b in bad]) for b in wrong]
        told = ", ".join(f"{letters([wrong[i] for i in places])} ({why})" for why, places in grouped(whys))
        most = written(float(off[list(wrong)].max()))
        right = f", right for {letters(why_right)}, which {_have(why_right)} length 1" if why_right else ""
        return f"wrong for {told}, by up to {most}{right}"

    def _by_half(self, one: Tensor, other: Tensor) -> Tensor:
        return torch.stack([part.amax(1) for part in apart(one, other).chunk(len(self.halves), 1)], 1)


def _joined(whys: list[str]) -> str:
    return ", and ".join(dict.fromkeys(whys)) or "its numbers are too far off"


def _have(sequences: list[int]) -> str:
    return "has" if len(sequences) == 1 else "have"


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
