"""The gradient of every weight: from the padded run without a mask and with one, beside that of the packed run."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.compute.record import Trace
from packviz.compute.verify import differing, distance
from packviz.facts.padded_run import initial_state
from packviz.facts.task import LOSSES, Cells, Task

__all__ = ["Gradient", "PadRowGradient", "gradients"]

_RUNS = ("unmasked", "masked", "packed")


@dataclass(frozen=True)
class Gradient:
    """Hold how far the gradients of one parameter are from those of the packed run with packed targets.

    name           as in the module; head.weight, head.bias and embedding.weight besides
    unmasked       the largest distance of the padded run's gradient, the loss taken of all cells
    masked         the same, with the loss taken of the tokens alone
    size           the largest number in the packed run's gradient
    same_unmasked, same_masked   whether that is rounding only
    """

    name: str
    unmasked: float
    masked: float
    size: float
    same_unmasked: bool
    same_masked: bool


@dataclass(frozen=True)
class PadRowGradient:
    """Hold the norm of the gradient of the embedding row that pads, in three runs.

    id           the row
    unmasked     padded, the loss taken of all cells
    masked       padded, the loss taken of the tokens alone
    packed       packed, with packed targets
    padding_idx  as in the settings: with it, torch gives this row no gradient at all
    is_token     whether a real token has this id, too: then it is trained by that token
    """

    id: int
    unmasked: float
    masked: float
    packed: float
    padding_idx: int | None
    is_token: bool


def gradients(trace: Trace, task: Task, tolerance: float) -> tuple[tuple[Gradient, ...], PadRowGradient | None]:
    """Let torch's autograd compute all gradients three times, on copies of the weights.

    Return a record for each parameter, and one for the embedding row that pads, None without an embedding.
    """
    unmasked, masked, packed = (_run(trace, task, kind) for kind in _RUNS)
    rows = tuple(
        Gradient(
            name,
            unmasked=distance(unmasked[name], theirs),
            masked=distance(masked[name], theirs),
            size=float(theirs.abs().max()),
            same_unmasked=_same(unmasked[name], theirs, tolerance),
            same_masked=_same(masked[name], theirs, tolerance),
        )
        for name, theirs in packed.items()
    )
    return rows, _pad_row(trace, [run.get("embedding.weight") for run in (unmasked, masked, packed)])


def _run(trace: Trace, task: Task, kind: str) -> dict[str, Tensor]:
    """Return the gradient of every parameter by name, from leaves of its own."""
    module = copy.deepcopy(trace.module)
    leaves: dict[str, Tensor] = dict(module.named_parameters())
    leaves["head.weight"] = task.weight.clone().requires_grad_()
    leaves["head.bias"] = task.bias.clone().requires_grad_()
    if trace.padded.embedding is not None:
        leaves["embedding.weight"] = trace.padded.embedding.clone().requires_grad_()
    values, first = _values(trace, leaves.get("embedding.weight")), trace.padded.batch_first
    if kind == "packed":
        packed = pack_padded_sequence(values, task.lengths, first, enforce_sorted=False)
        output: PackedSequence = module(packed, initial_state(trace))[0]
        logits = F.linear(output.data, leaves["head.weight"], leaves["head.bias"])  # (N, C)
        loss = F.cross_entropy(logits, task.packed_target)
    else:
        grid: Tensor = module(values, initial_state(trace))[0]
        logits = F.linear(grid if first else grid.transpose(0, 1), leaves["head.weight"], leaves["head.bias"])
        loss = LOSSES[kind][1](Cells(logits, task.target, task.real))  # logits (B, T, C)
    return dict(zip(leaves, torch.autograd.grad(loss, list(leaves.values())), strict=True))


def _values(trace: Trace, table: Tensor | None) -> Tensor:
    """Return what enters the cell, (B, T, F) or (T, B, F), with its way back to the embedding table."""
    if table is None:
        return trace.padded.values
    tokens = trace.padded.tokens if trace.padded.batch_first else trace.padded.tokens.t()
    return F.embedding(tokens, table, trace.config.padding_idx if trace.config is not None else None)


def _same(ours: Tensor, theirs: Tensor, tolerance: float) -> bool:
    return not differing(ours.unsqueeze(0), theirs.unsqueeze(0), tolerance)


def _pad_row(trace: Trace, tables: list[Tensor | None]) -> PadRowGradient | None:
    if trace.config is None or any(table is None for table in tables):
        return None
    pad = trace.config.pad_id
    unmasked, masked, packed = (float(table[pad].norm()) for table in tables if table is not None)
    is_token = bool((trace.padded.tokens[trace.padded.mask] == pad).any())
    return PadRowGradient(pad, unmasked, masked, packed, trace.config.padding_idx, is_token)
