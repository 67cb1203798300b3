"""Decides what a pad looks like, and where the data of a padded grid end."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import isfinite
from typing import cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.inputs.tensors import valid_mask

FEW = 256  # cells


@dataclass(frozen=True, eq=False)
class Pad:
    """What a pad looks like."""

    cell: Tensor  # its value or its features, (F,)
    constant: bool  # whether everything after the lengths is just this
    code: str  # the value as Python code: a number, or an index into the grid


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


def pad_step(values: Tensor, given: float) -> Tensor:
    """Return a step (...) of values (B, T, ...) that is nothing but a pad, in their dtype if they are floating."""
    dtype = values.dtype if values.is_floating_point() else None
    return torch.full(values.shape[2:], float(given) if dtype else given, dtype=dtype, device=values.device)


def zeros_begin_at(largest: Tensor, lengths: list[int]) -> bool:
    """Return whether steps are something before each length and zero after it, by their peaks (B, T).

    A few cells are looked at one by one: torch would need six calls, each as long as a step of a small module.
    """
    if largest.numel() <= FEW:
        rows = zip(largest.tolist(), lengths, strict=True)
        return all(all(row[:length]) and not any(row[length:]) for row, length in rows)
    return torch.equal(largest != 0, inside(lengths, largest.size(1), largest.device))


def shared_end(last: Tensor, before: Tensor, *, packed: bool = True) -> tuple[Tensor, int] | None:
    """Return a vector (F,) that ends at least two sequences, each more than once, and the first of these sequences.

    last, before: the last and the second last step of each sequence, (B, F). One number (F = 1) proves nothing.
    packed: whether the lengths count these steps. A vector of whole numbers, which data such as counts repeat by
    chance, must then be one number throughout, such as -1, and end at least three sequences.
    """
    if last.size(1) < 2:
        return None
    repeated = (last == before).all(1).nonzero().flatten().tolist()
    if len(repeated) < 2:
        return None
    vector = last[repeated[0]]
    sharing = int((last[repeated] == vector).all(1).sum())
    whole = not vector.is_floating_point() or torch.equal(vector, vector.round())
    enough = sharing > 2 and bool((vector == vector[0]).all()) if packed and whole else sharing > 1
    return (vector, repeated[0]) if enough else None


def packed_ends(packed: PackedSequence) -> tuple[Tensor, Tensor, list[int]]:
    """Return the last and the second last row of data of each sequence of at least two steps, and these sequences."""
    sizes = packed.batch_sizes.tolist()
    first_row = [0, *accumulate(sizes)]  # of each time step
    ended = [now - later for now, later in pairwise([*sizes, 0])]  # how many sequences end at each step
    ends = [length for length in range(len(sizes), 1, -1) for _ in range(ended[length - 1])]  # in packed order
    rows = [first_row[end - back] + position for back in (1, 2) for position, end in enumerate(ends)]
    data = packed.data.detach().reshape(len(packed.data), -1)
    last, before = data.index_select(0, torch.tensor(rows, device=data.device)).chunk(2) if ends else (data[:0],) * 2
    order = packed.sorted_indices
    return last, before, [*range(len(ends))] if order is None else order[: len(ends)].tolist()


def fits_at_its_edges(x: Tensor, lengths: list[int], batch_first: bool, given: float | None) -> bool:
    """Return whether x has one pad just after each length, and none at the first step and just before the length.

    It looks at three steps of each sequence: enough to see that a batch is sound, many times cheaper than all of it.
    """
    B, T = x.shape[:2] if batch_first else x.shape[1::-1]
    if len(lengths) != B or min(lengths) < 1 or max(lengths) > T:
        return False
    row, step = (T, 1) if batch_first else (1, B)  # from one to the next in x, flattened
    tokens = [b * row for b in range(B)] + [b * row + (length - 1) * step for b, length in enumerate(lengths)]
    after = [b * row + length * step for b, length in enumerate(lengths) if length < T]
    edges = x.reshape(B * T, -1).index_select(0, torch.tensor(tokens + after, device=x.device))
    if given is None and not after and T > 1:
        before = x.reshape(B * T, -1).index_select(0, torch.tensor(tokens[B:], device=x.device) - step)
        if shared_end(edges[B : 2 * B], before) is not None:
            return False
    cell = edges[-1] if given is None and after else given or 0.0
    differs: list[bool] = (edges != cell).any(1).tolist()
    return all(differs[: 2 * B]) and not any(differs[2 * B :])


def real_cells(values: Tensor, pad: float | Tensor) -> Tensor:
    """Return (B, T) bool of values (B, T) or (B, T, ...): True where a step is not just the pad."""
    if isinstance(pad, float) and pad == 0 and values.numel():
        return peaks(values) != 0
    if values.is_floating_point() and not isinstance(pad, Tensor):
        pad = float(pad)  # torch takes no integer beyond 64 bits
    unequal = bool((pad != pad).any()) if isinstance(pad, Tensor) else pad != pad  # true only for NaN
    differs = ~values.isnan() if unequal else values != pad
    return differs if differs.dim() == 2 else differs.flatten(2).any(-1)


def ends_of(flags: Tensor) -> list[int]:
    """Return for each row of (B, T) one more than the place of its last True, 0 for none."""
    return cast("list[int]", (flags * torch.arange(1, flags.size(1) + 1, device=flags.device)).amax(1).tolist())


def first_in_each(flags: Tensor) -> tuple[list[int], list[int]]:
    """Return b and t of the first True in each row of (B, T) that has one."""
    rows = flags.any(1).nonzero().flatten().tolist()
    return rows, flags[rows].int().argmax(1).tolist() if rows else []


@dataclass(frozen=True, eq=False)
class GivenGrid:
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
    def pad(self) -> Pad | None:
        """Return what a pad looks like, or None if the cells after the lengths show no padding value."""
        shape = self.values.shape[2:]
        if self.given is not None:
            cell = pad_step(self.values, self.given)
            return Pad(cell, bool(~(real_cells(self.values, self.given) & ~self.mask).any()), repr(self.given))
        after = (~self.mask).nonzero()
        zero = torch.zeros(shape, dtype=self.values.dtype, device=self.values.device)
        if not len(after):
            shared = shared_end(self.values[:, -1], self.values[:, -2]) if len(shape) == 1 and self.T > 1 else None
            if shared is None:
                return Pad(zero, True, "0")
            return Pad(shared[0], True, pad_code(shared[0], (shared[1], self.T - 1)))
        region = self.values[~self.mask].flatten(1) if shape else self.values[~self.mask].unsqueeze(1)
        alike = (region == region[0]) | (region.isnan() & region[0].isnan())
        if bool(alike.all()):
            if len(region) == 1:  # one cell may be a token that was left out
                return Pad(zero, True, "0")
            return Pad(region[0].reshape(shape), True, pad_code(region[0], after[0]))
        ends = self.values[~self.mask[:, -1], -1].reshape(
            -1, region.size(1)
        )  # the last column of sequences that end before it
        return Pad(zero, False, "0") if bool((ends == 0).all(1).any()) else None

    @cached_property
    def real(self) -> Tensor:
        """Return (B, T) bool: True where a step is not a pad; only if there is a pad.

        NaN and inf after the lengths are not data: they are a finding of their own.
        """
        assert self.pad is not None
        real = real_cells(self.values, self.given if self.given is not None else self.pad.cell)
        return real & (self.mask | peaks(self.values).isfinite())

    @cached_property
    def ends(self) -> list[int]:
        """Return how far each sequence's data reach: one after the last step that is not a pad; 0 if all are."""
        return ends_of(self.real)

    @cached_property
    def starts(self) -> list[int]:
        """Return how many pads come before each sequence's data; T if there are no data."""
        return [self.T - end for end in ends_of(self.real.flip(1))]


def pad_code(cell: Tensor, at: Sequence[int] | Tensor) -> str:
    """Return a pad (F,) as code: nan, a number if all features are the same, else the cell (b, t) it was seen in."""
    if bool(cell.isnan().all()):
        return "nan"
    if bool((cell == cell[0]).all()):
        value = cell[0].item()
        return repr(value or abs(value))  # 0.0 for -0.0
    return f"grid[{int(at[0])}, {int(at[1])}]"


def filler_of(x: Tensor, lengths: Sequence[float] | Tensor | None, *, batch_first: bool) -> float:
    """Return the one value that is everywhere after the lengths of x (B, T) or (B, T, F), else 0.0.

    0.0 is what pad_sequence fills with, and the answer wherever there is no evidence: fewer than two steps after the
    lengths, several values there, or lengths that do not fit x. batch_first as in pack_padded_sequence.
    """
    if lengths is None or x.dim() not in (2, 3) or x.numel() == 0 or x.is_complex():
        return 0.0
    values = x if batch_first else x.transpose(0, 1)
    try:
        ends = torch.as_tensor(lengths, device=None if isinstance(lengths, Tensor) else "cpu")
    except (ValueError, TypeError, RuntimeError, OverflowError):
        return 0.0
    if ends.device.type != "cpu" or ends.dim() != 1 or len(ends) != len(values) or not bool(ends.isfinite().all()):
        return 0.0
    if bool((ends >= values.size(1)).all()):  # nothing is after them
        return 0.0
    pad = GivenGrid(values, ends.tolist(), None).pad
    cell = torch.zeros(1, device="cpu") if pad is None else pad.cell.flatten()
    return float(cell[0]) if bool((cell == cell[0]).all()) else 0.0
