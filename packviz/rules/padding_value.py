"""What a pad is, and where the data of a padded grid end.

A step that is a pad, the first line that applies:
    padding_value was given                                                      that number in each feature
    two or more steps after the lengths, all alike                               that step
    the lengths are not given or all T; some step ends two or more sequences,    that step
        twice or more in a row and not as often in each, and is nowhere else
    otherwise                                                                    0 in each feature

The third line needs two or more features, and of whole numbers one in all features, such as -1: see repeated_end().

>>> import torch
>>> x = torch.tensor([[1.0, 2, 3, 4], [5, 6, -1, -1]])
>>> PaddedGrid(x, [4, 2], None).pad, PaddedGrid(x, [4, 3], None).pad, PaddedGrid(x, [4, 3], 9.0).pad
(-1.0, 0, 9.0)
"""

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.inputs.tensors import valid_mask

FEW = 256  # cells


def inside(lengths: list[int], T: int, device: torch.device) -> Tensor:
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


def end_at(real: Tensor, lengths: list[int]) -> bool:
    """Return whether real (B, T) is nonzero before each length, and zero after it.

    A few cells are looked at one by one: torch would need six calls, each as long as a step of a small module.
    """
    if real.numel() <= FEW:
        rows = zip(real.tolist(), lengths, strict=True)
        return all(all(row[:length]) and not any(row[length:]) for row, length in rows)
    return torch.equal(real != 0, inside(lengths, real.size(1), real.device))


def plainly_fit(lengths: list[int], values: Tensor, real: Tensor, given: float | None) -> bool:
    """Return whether pads fill values (B, T, ...) after each length and are nowhere else, nor may be assumed.

    real: (B, T), nonzero where a step is not the pad
    """
    return end_at(real, lengths) and (
        given is not None or min(lengths) < values.size(1) or not may_have_pads(values, True, given)
    )


def repeated_end(values: Tensor) -> Tensor | None:
    """Return the step of several features (F,) that ends the sequences (B, T, F) as only pads do, if there is one.

    A single feature proves nothing. Whole numbers, which data repeat by chance, must be one number, such as -1.
    """
    if values.dim() != 3 or min(values.shape[1:]) < 2 or values.is_complex():
        return None
    last = values[:, -1].detach()
    last = last[(last == values[:, -2]).all(1)]
    if len(last) < 2:
        return None
    steps, times = torch.unique(last, dim=0, return_counts=True)
    step = steps[times.argmax()]
    whole = not step.is_floating_point() or torch.equal(step, step.round())
    if int(times.max()) < 2 or (whole and not bool((step == step[0]).all())):
        return None
    real = real_cells(values, step)
    ends = ends_of(real)
    return step if len({*ends}) > 1 and sum(ends) == int(real.sum()) else None


def may_have_pads(x: Tensor, batch_first: bool, given: float | None) -> bool:
    """Return whether steps at the edges of x, (B, T, F) or (T, B, F), may be pads, in either axis.

    A quick look: if not, no_pads_are_run() finds nothing, nor do all lengths T count pads as steps, if x has no zeros.
    """
    if x.dim() != 3 or min(x.shape[:2]) < 2:
        return False
    steps = x.transpose(0, 1) if batch_first else x
    edge = torch.cat([x[-1], x[:, -1], steps[0]])
    may_be = ~real_cells(edge.unsqueeze(0), given or 0)[0]
    if given is None:
        may_be |= (edge == torch.cat([x[-2], x[:, -2], steps[1]])).all(1)
    return bool(may_be.any())


def real_cells(values: Tensor, pad: float | Tensor) -> Tensor:
    """Return (B, T) bool of values (B, T) or (B, T, ...): True where a step is not the pad, a number or a step."""
    if isinstance(pad, Tensor):
        return (values != pad).flatten(2).any(-1)
    if pad == 0 and values.numel():
        return peaks(values) != 0
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
    """A grid with the sequences first, (B, T) or (B, T, ...), and the lengths it is said to have."""

    values: Tensor
    lengths: list[int]
    given: float | None  # the padding value, if the caller gave it

    @property
    def T(self) -> int:
        """Return the number of time steps."""
        return self.values.size(1)

    @cached_property
    def mask(self) -> Tensor:
        """Return (B, T) bool: True before each length."""
        return inside(self.lengths, self.T, self.values.device)

    @cached_property
    def pad(self) -> float | Tensor:
        """Return what a pad is, see the head of this file: the number of all its features, else these."""
        if self.given is not None:
            return self.given
        step = repeated_end(self.values) if min(self.lengths) == self.T else self._only_step_after
        if step is None or not step.numel():
            return 0
        number = step.flatten()[0]
        return number.item() + 0 if bool((step == number).all()) else step  # 0 for -0.0

    @property
    def _only_step_after(self) -> Tensor | None:
        """Return the step that all of two or more steps after the lengths are."""
        last = self.values[~self.mask[:, -1], -1]  # which is much less than everything after the lengths
        if not bool((last == last[0]).all()):
            return None
        after = self.values[~self.mask]
        return last[0] if len(after) > 1 and bool((after == last[0]).all()) else None

    @cached_property
    def real(self) -> Tensor:
        """Return (B, T) bool: True where a step is not a pad.

        NaN and inf after the lengths are not data: they are a finding of their own.
        """
        if min(self.lengths) == self.T:
            return real_cells(self.values, self.pad)
        largest = peaks(self.values)
        is_zero = not isinstance(self.pad, Tensor) and self.pad == 0
        real = largest != 0 if is_zero else real_cells(self.values, self.pad)
        return real & (self.mask | largest.isfinite())

    @cached_property
    def ends(self) -> list[int]:
        """Return how far each sequence's data reach: one after the last step that is not a pad; 0 if all are."""
        return ends_of(self.real)


def packed_pad(packed: PackedSequence, given: float | None) -> float | Tensor:
    """Return what a pad is in packed data: see the head of this file. If all lengths are T, the data are a grid."""
    B, T = int(packed.batch_sizes[0]), len(packed.batch_sizes)
    if given is not None or len(packed.data) != B * T:
        return given or 0
    return PaddedGrid(packed.data.reshape(T, B, *packed.data.shape[1:]).transpose(0, 1), [T] * B, given).pad
