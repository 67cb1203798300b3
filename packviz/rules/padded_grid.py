"""A padded grid: its steps that are alike, which of its steps are pads, and where its sequences end.

What a pad is, pads.py decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Literal, cast

import torch
from torch import Tensor

from packviz.inputs.tensors import valid_mask

MIN_ALIKE = 2  # steps: a single one may be anything
Nothing = Literal["nothing"]
NOTHING: Nothing = "nothing"
Pad = float | Tensor | Nothing  # the number of all its features, else these; or no step is one


def inside(lengths: Sequence[int], T: int, device: torch.device) -> Tensor:
    """Return (B, T) bool: True at the steps before each length."""
    return valid_mask(torch.tensor(lengths, device=device), T)


def peaks(values: Tensor) -> Tensor:
    """Return the largest magnitude of each step, (B, T), of values (B, T) or (B, T, ...).

    One pass over the data answers two questions: where all features are 0, and whether there is a NaN or inf.
    """
    if values.dtype == torch.bool:
        values = values.byte()
    if values.dim() > 3:
        values = values.flatten(2)
    return values.abs() if values.dim() == 2 else values.abs().amax(2)


def all_finite(values: Tensor) -> bool:
    """Return whether all values are finite. The sum, which is cheap, is checked first."""
    return not values.is_floating_point() or isfinite(values.sum().item()) or bool(values.isfinite().all())


def real_cells(values: Tensor, pad: float | Tensor, largest: Tensor | None = None) -> Tensor:
    """Return (B, T) bool of values (B, T) or (B, T, ...): True where a step is not the pad, a number or a step.

    largest: the peaks() of the values, if they are known
    """
    if isinstance(pad, Tensor):
        return (values != pad).flatten(2).any(-1)
    if pad == 0 and values.numel():
        return (peaks(values) if largest is None else largest) != 0
    if values.is_floating_point():
        pad = float(pad)  # torch takes no integer beyond 64 bits
    differs = ~values.isnan() if pad != pad else values != pad  # only NaN differs from itself
    return differs if differs.dim() == 2 else differs.flatten(2).any(-1)


def ends_of(flags: Tensor) -> list[int]:
    """Return for each row of (B, T) one more than the place of its last True, but at least 1."""
    steps = torch.arange(1, flags.size(1) + 1, device=flags.device)
    return cast("list[int]", (flags * steps).amax(1).clamp(min=1).tolist())


def first_in_each(flags: Tensor) -> tuple[list[int], list[int]]:
    """Return b and t of the first True in each row of (B, T) that has one."""
    rows = flags.any(1).nonzero().flatten().tolist()
    return rows, flags[rows].int().argmax(1).tolist() if rows else []


@dataclass(frozen=True, eq=False)
class PaddedGrid:
    """A grid with the sequences first, and the lengths it is said to have.

    values     (B, T) or (B, T, ...)
    lengths    of the sequences, one of 1 to T for each
    given      the padding_value, if the caller gave it
    largest    the peaks() of the values, (B, T)
    pad_of     returns what a pad is
    is_packed  whether the values come from packed data, which have nothing after the lengths
    """

    values: Tensor
    lengths: list[int]
    given: float | None
    largest: Tensor
    pad_of: Callable[[PaddedGrid], Pad]
    is_packed: bool = False

    def turned(self) -> PaddedGrid:
        """Return the grid with B and T swapped, and with the same lengths."""
        return replace(self, values=self.values.transpose(0, 1), largest=self.largest.transpose(0, 1))

    def backwards(self) -> PaddedGrid:
        """Return the grid with time reversed, so that it ends with what it begins with."""
        return replace(self, values=self.values.flip(1), largest=self.largest.flip(1))

    @cached_property
    def pad(self) -> Pad:
        """Return what a pad is."""
        return self.pad_of(self)

    @property
    def T(self) -> int:
        """Return the number of time steps."""
        return self.values.size(1)

    @property
    def is_full(self) -> bool:
        """Return whether all lengths are T."""
        return min(self.lengths) == self.T

    @property
    def leaves_no_step(self) -> bool:
        """Return whether no step is after the lengths."""
        return self.is_packed or self.is_full

    @property
    def has_single_numbers(self) -> bool:
        """Return whether each step is one number, such as an id or a single feature."""
        return self.values.shape[2:].numel() == 1

    @cached_property
    def mask(self) -> Tensor:
        """Return (B, T) bool: True before each length."""
        return inside(self.lengths, self.T, self.values.device)

    @cached_property
    def real(self) -> Tensor:
        """Return (B, T) bool: True where a step is not a pad.

        NaN and inf after the lengths are not data: they are a finding of their own.
        """
        if isinstance(self.pad, str):
            return torch.ones_like(self.largest, dtype=torch.bool)
        real = real_cells(self.values, self.pad, self.largest)
        if self.is_packed:
            return real & self.mask
        return real if self.is_full or all_finite(self.largest) else real & (self.mask | self.largest.isfinite())

    @cached_property
    def ends(self) -> list[int]:
        """Return how far each sequence's data reach: one after the last step that is not a pad, but at least 1."""
        return ends_of(self.real)

    @property
    def fits(self) -> bool:
        """Return whether no pad is before a length, and nothing else after it."""
        return bool(self.real.all()) if self.is_full else torch.equal(self.real, self.mask)

    @property
    def shows_more_than_packed(self) -> bool:
        """Return whether packed data alone say less: if it does not fit, if NaN is after it, or pads other than 0."""
        after = self.largest.masked_fill(self.mask, 0)
        is_0 = not isinstance(self.pad, Tensor) and self.pad == 0
        return not (self.fits and (self.is_full or self.given is not None or is_0) and all_finite(after))

    @property
    def beyond(self) -> list[int]:
        """Return the sequences that end after their lengths."""
        return [b for b, end in enumerate(self.ends) if end > self.lengths[b]]

    @property
    def short(self) -> list[int]:
        """Return the sequences whose lengths are below T."""
        return [b for b, length in enumerate(self.lengths) if length < self.T]

    @property
    def pads_at_ends(self) -> dict[int, int]:
        """Return how many pads end each sequence before its length, by sequence."""
        both = enumerate(zip(self.ends, self.lengths, strict=True))
        return {b: length - end for b, (end, length) in both if end < length}

    @property
    def pads_at_starts(self) -> dict[int, int]:
        """Return how many pads begin each sequence, by sequence; none of one that has nothing else."""
        return {b: t for b, t in enumerate(self.real.int().argmax(1).tolist()) if t}

    @property
    def step_after(self) -> float | Tensor | None:
        """Return the step that all of MIN_ALIKE or more steps after the lengths are."""
        if self.is_packed or sum(self.T - length for length in self.lengths) < MIN_ALIKE:
            return None
        step = self.values[self.short[0], -1]
        features = step.flatten().tolist()
        pad = features[0] + 0 if features.count(features[0]) == len(features) else step  # 0 for -0.0
        after_are_pads = real_cells(self.values, pad, self.largest) <= self.mask
        return pad if bool(after_are_pads.all()) else None
