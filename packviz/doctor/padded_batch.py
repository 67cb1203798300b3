"""A padded batch, and other versions of it that must not change the result for any sequence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from packviz.doctor.leaves import Leaves, leaves_of
from packviz.errors import PackvizError, refusal_of
from packviz.rules.padded_grid import inside, peaks
from packviz.rules.preconditions import check_tensor, known_lengths
from packviz.text import counted, shown
from packviz.validate import choice

EXTRA = 3  # pads that are added
BatchCall = Callable[[Any, Tensor, Any], object]
GridRows = tuple[Tensor, Sequence[int]]  # rows of (B, T) or (B, T, ...), and which sequences they are


@dataclass(frozen=True, eq=False)
class PaddedBatch:
    """The batch with its sequences first, (B, T) or (B, T, ...), and how the model is called."""

    call: BatchCall
    grid: Tensor
    ends: list[int]
    lengths: object  # as they were given
    batch_first: bool
    on_left: bool

    @property
    def all(self) -> Sequence[int]:
        """Return the sequences in their order."""
        return range(len(self.ends))

    def run_by(self, model: Callable[[Tensor, Any], object]) -> Callable[[GridRows], Leaves]:
        """Return what runs model(batch, lengths): first over the whole batch, then over other rows.

        One sequence alone must have the outputs of the whole batch: else it raises ValueError.
        """
        whole: Leaves = {}
        broadcasts: list[bool] = []  # asked at most once

        def run(given: GridRows) -> Leaves:
            rows, sequences = given
            ends = [self.ends[b] for b in sequences]
            lengths = self.lengths.new_tensor(ends) if isinstance(self.lengths, Tensor) else ends
            x = rows if self.batch_first else rows.transpose(0, 1)
            leaves = leaves_of(model(x.clone(memory_format=torch.contiguous_format), lengths), "model")
            whole.update({} if whole else leaves)
            for name, leaf in whole.items() if len({*sequences}) == 1 else ():
                if name not in leaves or leaves[name].dim() != leaf.dim():
                    got = tuple(leaves[name].shape) if name in leaves else "missing"
                    raise ValueError(f"{name} is {got}; over the whole batch it is {tuple(leaf.shape)}")
            if len(sequences) == 1 and self._seems_to_broadcast(whole, leaves):
                broadcasts[:] = broadcasts or [self._broadcasts(model)]
                if broadcasts[0]:
                    raise ValueError(f"one sequence gets {len(self.ends)} results, as many as the whole batch")
            return leaves

        return run

    def _seems_to_broadcast(self, whole: Leaves, alone: Leaves) -> bool:
        """Return whether one sequence gets as many results as the whole batch."""
        B = len(self.ends)
        return any(B in leaf.shape and alone[name].shape == leaf.shape for name, leaf in whole.items())

    def _broadcasts(self, model: Callable[[Tensor, Any], object]) -> bool:
        """Return whether the model combines one sequence with other tensors of the batch, as broadcasting allows.

        Then one more copy than there are sequences fits no other tensor.
        """
        rows, sequences = self.copies(0, len(self.ends) + 1)
        ends = [self.ends[b] for b in sequences]
        lengths = self.lengths.new_tensor(ends) if isinstance(self.lengths, Tensor) else ends
        try:
            model(rows if self.batch_first else rows.transpose(0, 1), lengths)
        except Exception:  # of the model, whatever it raises
            return True
        return False

    def copies(self, b: int, count: int) -> GridRows:
        """Return copies of sequence b, without padding."""
        row, end = self.grid[b : b + 1], self.ends[b]
        row = row[:, row.size(1) - end :] if self.on_left else row[:, :end]
        return row.expand(count, *row.shape[1:]), [b] * count

    def wider(self, padding_value: float | None) -> Tensor:
        """Return the grid with more pads: padding_value if given, else the existing pad, else 0."""
        pads = self.grid[~self.tokens(self.grid)]
        cell = pads[0] if len(pads) else torch.zeros_like(self.grid[0, 0])
        cell = cell if padding_value is None else torch.full_like(cell, padding_value)
        more = cell.expand(len(self.grid), EXTRA, *self.grid.shape[2:])
        return torch.cat([more, self.grid] if self.on_left else [self.grid, more], 1)

    def tokens(self, grid: Tensor) -> Tensor:
        """Return (B, T) bool: True at the tokens of the grid, or of one with more pads."""
        mask = inside(self.ends, grid.size(1), grid.device)
        return mask.flip(1) if self.on_left else mask

    def refilled(self, grid: Tensor, seed: int) -> Tensor:
        """Return the grid with tokens of the batch, drawn with the seed, in the place of its pads."""
        mask, refilled = self.tokens(grid), grid.clone()
        tokens, pads = grid[mask], int((~mask).sum())
        drawn = torch.randint(len(tokens), (pads,), generator=torch.Generator().manual_seed(seed), device="cpu")
        refilled[~mask] = tokens[drawn.to(grid.device)]
        return refilled


def padded_batch(
    model: object, batch: object, lengths: object, batch_first: bool, call: BatchCall | None, padding_side: str
) -> PaddedBatch:
    """Return the batch that check_invariance() is given. Raises PackvizError for unsupported inputs."""
    if not callable(model):
        raise refusal_of("model", "a module or a function", model, "give the model that takes the batch")
    if not (call is None or callable(call)):
        raise refusal_of("call", "a function", call, "give call=lambda model, batch, lengths: model(...)")
    if not isinstance(batch, Tensor) or batch.dim() < 2:
        fix = "pad the sequences; what the model itself takes goes into call=lambda model, batch, lengths: model(...)"
        raise refusal_of("batch", "a padded tensor of sequences and time steps", batch, fix)
    check_tensor("batch", batch, on_meta=False)
    grid, ends = batch if batch_first else batch.transpose(0, 1), known_lengths("lengths", lengths)
    B, T = grid.shape[:2]
    if len(ends) != B or not all(1 <= end <= T for end in ends):
        expected = f"{counted(B, 'length')} from 1 to {T}, with batch_first={batch_first}"
        fix = "check lengths and batch_first"
        raise PackvizError("lengths", expected=expected, got=str(ends), fix=fix)
    if B < 2:
        raise PackvizError("batch", expected="at least two sequences", got=shown(batch), fix="give a larger batch")
    on_left = choice("padding_side", padding_side, ("right", "left")) == "left"
    # rows that begin with as many zeros as the lengths leave, and end with tokens
    if not on_left and min(ends) < T and torch.equal(peaks(grid).flip(1) != 0, inside(ends, T, grid.device)):
        got, fix = "'right' for rows that begin with zeros and end with tokens", "give padding_side='left'"
        raise PackvizError("padding_side", expected="the side where the pads are", got=got, fix=fix)
    return PaddedBatch(call or _called, grid.detach(), ends, lengths, batch_first, on_left)


def _called(model: Any, batch: Tensor, lengths: Any) -> object:
    try:
        return model(batch, lengths)
    except TypeError as error:
        error.add_note(
            "It was called as model(batch, lengths); for another call, give call=lambda model, batch, lengths: ..."
        )
        raise
