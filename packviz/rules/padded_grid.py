"""A padded grid: its steps that are alike, which of its steps are pads, and where its sequences end.

What a pad is, pads.py decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import cast

import torch
from torch import Tensor

from packviz.inputs.tensors import valid_mask

MIN_ALIKE = 2  # steps, or sequences: any number may end one


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
    """Return for each row of (B, T) one more than the place of its last True, 0 for none."""
    return cast("list[int]", (flags * torch.arange(1, flags.size(1) + 1, device=flags.device)).amax(1).tolist())


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
    pad_of     returns what a pad is: the number of all its features, else these
    backwards  whether time is read from the last step to the first: then t = 0 is the last one in mask, real and ends
    is_packed  whether the values come from packed data, which have nothing after the lengths
    """

    values: Tensor
    lengths: list[int]
    given: float | None
    largest: Tensor
    pad_of: Callable[[PaddedGrid], float | Tensor]
    backwards: bool = False
    is_packed: bool = False

    @property
    def begun(self) -> PaddedGrid:
        """Return the grid with time reversed, so that it ends with what it begins with."""
        return replace(self, backwards=True)

    def turned(self, lengths: list[int]) -> PaddedGrid:
        """Return the grid with B and T swapped, and with these lengths."""
        swapped, largest = self.values.transpose(0, 1), self.largest.transpose(0, 1)
        return replace(self, values=swapped, largest=largest, lengths=lengths)

    @cached_property
    def pad(self) -> float | Tensor:
        """Return what a pad is."""
        return self.pad_of(self)

    @property
    def T(self) -> int:
        """Return the number of time steps."""
        return self.values.size(1)

    @property
    def is_full(self) -> bool:
        """Return whether all lengths are T, so that no step is after them."""
        return min(self.lengths) == self.T

    @cached_property
    def mask(self) -> Tensor:
        """Return (B, T) bool: True before each length."""
        return inside(self.lengths, self.T, self.values.device)

    def in_time(self, cells: Tensor) -> Tensor:
        """Return cells (B, T), in the order of the values, in that of mask, real and ends; or the other way round."""
        return cells.flip(1) if self.backwards else cells

    @cached_property
    def real(self) -> Tensor:
        """Return (B, T) bool: True where a step is not a pad.

        NaN and inf after the lengths are not data: they are a finding of their own.
        """
        real = self.in_time(real_cells(self.values, self.pad, self.largest))
        if self.is_packed:
            return real & self.mask
        return real if self.is_full else real & (self.mask | self.in_time(self.largest).isfinite())

    @cached_property
    def ends(self) -> list[int]:
        """Return how far each sequence's data reach: one after the last step that is not a pad; 0 if all are."""
        return ends_of(self.real)

    @property
    def fits(self) -> bool:
        """Return whether no pad is before a length, and nothing else after it."""
        return bool(self.real.all()) if self.is_full else torch.equal(self.real, self.mask)

    @property
    def shows_more_than_packed(self) -> bool:
        """Return whether the packed data alone say less: if it does not fit, if NaN is after it, or a pad is not 0."""
        after = self.in_time(self.largest).masked_fill(self.mask, 0)
        fills_with_0 = self.given is not None or (not isinstance(self.pad, Tensor) and self.pad == 0)
        return not (self.fits and fills_with_0 and all_finite(after))

    @property
    def has_no_pads(self) -> bool:
        """Return whether no step is a pad, also if time is reversed, or B and T are swapped; all lengths must be T."""
        return self.fits and self.begun.fits and self.turned([len(self.lengths)] * self.T).fits

    @property
    def beyond(self) -> list[int]:
        """Return the sequences that end after their lengths."""
        return [b for b, end in enumerate(self.ends) if end > self.lengths[b]]

    @property
    def short(self) -> list[int]:
        """Return the sequences whose lengths are below T."""
        return [b for b, length in enumerate(self.lengths) if length < self.T]

    @cached_property
    def pads_before_lengths(self) -> int:
        """Return how many pads are before the lengths, at the ends and inside the sequences."""
        return int((self.mask & ~self.real).sum())

    @cached_property
    def pads_inside(self) -> int:
        """Return how many of them are inside the sequences: something else follows."""
        at_ends = sum(max(length - end, 0) for end, length in zip(self.ends, self.lengths, strict=True))
        return self.pads_before_lengths - at_ends

    @cached_property
    def pads_at_ends(self) -> dict[int, int]:
        """Return how many pads end each sequence before its length, by sequence; none if they are data.

        Pads that are assumed are data if some are inside the sequences, too, or if a sequence is nothing else.
        """
        is_given, ends = self.given is not None, self.ends
        if self.pads_inside and not is_given:
            return {}
        return {
            b: length - ends[b]
            for b, length in enumerate(self.lengths)
            if ends[b] < length and (ends[b] or (is_given and length > 1))
        }

    @property
    def zero_after(self) -> int | None:
        """Return 0 if there are steps after the lengths, and all of them are 0."""
        return 0 if not self.is_full and not bool(self.in_time(self.largest).masked_fill(self.mask, 0).any()) else None

    @property
    def step_after(self) -> Tensor | None:
        """Return the step that all of MIN_ALIKE or more steps after the lengths are."""
        if self.is_full:
            return None
        after, column = ~self.in_time(self.mask), 0 if self.backwards else -1
        last = self.values[after[:, column], column]
        if not bool((last == last[0]).all()):  # which is much less than everything after the lengths
            return None
        steps = self.values[after]
        return last[0] if len(steps) >= MIN_ALIKE and bool((steps == last[0]).all()) else None

    @property
    def step_at_ends(self) -> Tensor | None:
        """Return the step (F,) that ends MIN_ALIKE or more sequences (B, T, F), unequally, and is nowhere else.

        In each of them it must be there twice or more. A single feature proves nothing. Whole numbers, which data
        repeat by chance, must be one number, such as -1.
        """
        values = self.values.detach()
        if not self.is_full or values.dim() != 3 or min(values.shape[1:]) < MIN_ALIKE or values.is_complex():
            return None
        last, before = (values[:, 0], values[:, 1]) if self.backwards else (values[:, -1], values[:, -2])
        twice = (last == before).all(1)
        if int(twice.sum()) < MIN_ALIKE:
            return None
        steps, times = torch.unique(last[twice], dim=0, return_counts=True)
        step = steps[times.argmax()]
        whole = not step.is_floating_point() or torch.equal(step, step.round())
        if int(times.max()) < MIN_ALIKE or (whole and not bool((step == step[0]).all())):
            return None
        real = self.in_time(real_cells(values, step))
        ends = ends_of(real)
        return step if len({*ends}) > 1 and sum(ends) == int(real.sum()) else None
