"""A small task on top of the output: a seeded linear head, a seeded class for every token, and the losses of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.determinism import seeded
from packviz.compute.record import Trace
from packviz.inputs.module import directions, state_size, weight_dtype

__all__ = ["CLASSES", "IGNORED", "LOSSES", "PAD_CLASS", "Cells", "Task", "draw_task"]

CLASSES = 5
PAD_CLASS = 0  # the target at a pad: the pad's id is a class like any other, until a mask or ignore_index says no
IGNORED = -100  # cross_entropy's own ignore_index


@dataclass(frozen=True, eq=False)
class Task:
    """Hold a head and what it is to say.

    weight, bias  (C, D*H) and (C,) of the linear head, C = 5 classes
    target        (B, T) int64: a random class for every token, class 0 at the pads
    real          (B, T) bool: the cells that hold a token
    valid         (B, T) bool: the cells that were packed; other ones only after padding on the left
    lengths       (B,) int64
    """

    weight: Tensor
    bias: Tensor
    target: Tensor
    real: Tensor
    valid: Tensor
    lengths: Tensor

    @property
    def packed_target(self) -> Tensor:
        """Return (N,) int64: the targets in the order of the packed rows."""
        return pack_padded_sequence(self.target, self.lengths, True, enforce_sorted=False).data


@dataclass(frozen=True, eq=False)
class Cells:
    """Hold what a loss is taken of: logits (B, T, C), target (B, T), and mask (B, T), False where nothing counts."""

    logits: Tensor
    target: Tensor
    mask: Tensor

    @property
    def loss(self) -> Tensor:
        """Return (B, T): the cross entropy of each cell."""
        return F.cross_entropy(self.logits.transpose(1, 2), self.target, reduction="none")


def draw_task(trace: Trace, seed: int) -> Task:
    """Draw the head and the targets of a trace, the same for the same seed."""
    width, lengths = directions(trace.module) * state_size(trace.module), trace.padded.lengths
    mask = trace.padded.mask
    with seeded(seed):
        head = nn.Linear(width, CLASSES, device="cpu", dtype=weight_dtype(trace.module))
        target = torch.randint(CLASSES, mask.shape, device="cpu")
    valid = torch.arange(mask.size(1), device="cpu") < lengths.unsqueeze(1)
    target = target.masked_fill(~mask, PAD_CLASS)
    return Task(head.weight.detach(), head.bias.detach(), target, mask, valid, lengths)


def _unmasked(cells: Cells) -> Tensor:
    return F.cross_entropy(cells.logits.flatten(0, 1), cells.target.flatten())


def _masked(cells: Cells) -> Tensor:
    return cells.loss[cells.mask].mean()


def _ignoring(cells: Cells) -> Tensor:
    target = cells.target.masked_fill(~cells.mask, IGNORED)
    return F.cross_entropy(cells.logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED)


def _sequence_mean(cells: Cells) -> Tensor:
    sums = cells.loss.masked_fill(~cells.mask, 0.0).sum(1)  # (B,)
    return (sums / cells.mask.sum(1)).mean()


def _naive(cells: Cells) -> Tensor:
    return cells.loss.masked_fill(~cells.mask, 0.0).mean()


# By name: the lines that compute it, batch first, and the loss itself.
LOSSES: dict[str, tuple[str, Callable[[Cells], Tensor]]] = {
    "unmasked": ("F.cross_entropy(logits.flatten(0, 1), target.flatten())", _unmasked),
    "masked": ("loss[mask].mean()", _masked),
    "ignore_index": (
        "F.cross_entropy(logits.flatten(0, 1), target.masked_fill(~mask, -100).flatten())",
        _ignoring,
    ),
    "sequence_mean": ("(loss.masked_fill(~mask, 0).sum(1) / lens).mean()", _sequence_mean),
    "naive": ("loss.masked_fill(~mask, 0).mean()", _naive),
}
