"""The loss without a mask, with one, with packed targets and with ignore_index; and the gradients."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Trace
from packviz.compute.verify import differing, distance, tolerance_of
from packviz.compute.weights import drawn, generator_of
from packviz.facts.padded_run import initial_state, packed_grid, run_padded, valid_cells
from packviz.facts.words import sentence
from packviz.inputs.module import directions, state_size, weight_dtype
from packviz.text import Brief
from packviz.validate import integer

__all__ = ["LOSSES", "Gradient", "HeadAndTargets", "Losses", "draw_task", "losses"]

CLASSES = 5
PAD_CLASS = 0  # the target at a pad: a class like any other, unless a mask or ignore_index excludes it

# By key: the lines that are run to compute the losses, batch first; loss is (B, T), the cross entropy of each cell.
LOSSES = {
    "unmasked": "F.cross_entropy(logits.flatten(0, 1), target.flatten())",
    "masked": "loss[mask].mean()",  # the mean over tokens
    "ignore_index": "F.cross_entropy(logits.flatten(0, 1), target.masked_fill(~mask, -100).flatten())",
    "sequence_mean": "(loss.masked_fill(~mask, 0).sum(1) / lens).mean()",  # the mean over sequences of each one's mean
    "naive": "loss.masked_fill(~mask, 0).mean()",  # over all cells, with zeros at the pads
    "packed_targets": "F.cross_entropy(head(output.data), packed_target.data)",  # only on the packed side
}
_VERDICTS = (
    *(("agreement", ""), ("unmasked", ""), ("means", ""), ("overflow", ""), ("gradients", "masked")),
    *(("gradients", "unmasked"), ("packed_pads", ""), ("pad_row", ""), ("pad_trained", "")),
)  # keys of sentences, and which gradients each is about


@dataclass(frozen=True, eq=False, repr=False)
class HeadAndTargets(Brief):
    """A seeded linear head (C = 5 classes), and target (B, T): a random class for every token, 0 at the pads."""

    head: nn.Linear
    target: Tensor


@dataclass(frozen=True)
class Gradient:
    """How far the gradients of one parameter are from those of the packed run with packed targets."""

    name: str  # as in the module; also head.weight, head.bias and embedding.weight
    unmasked: float  # the largest distance of the padded run's gradient, with the loss over all cells
    masked: float  # the same, with the loss over tokens only
    size: float  # the largest magnitude in the packed run's gradient
    same_unmasked: bool  # whether that is rounding only
    same_masked: bool  # the same


@dataclass(frozen=True, repr=False)
class Losses(Brief):
    """The losses of one head on both outputs, and the gradients of three of them."""

    losses: dict[str, dict[str, float]]  # by side, "padded" or "packed", and by the key in LOSSES
    gradients: tuple[Gradient, ...]  # one per parameter: padded without and with a mask, each compared with packed
    # the norm of the gradient of the pad's embedding row: padded, loss over all cells; padded, loss over tokens only;
    # packed, with packed targets; () without an embedding
    pad_norms: tuple[float, ...]
    agree: bool  # whether packed targets, ignore_index and the masked token mean are equal on the packed output
    verdicts: tuple[str, ...]  # what the numbers say


def losses(trace: Trace, seed: int = 0) -> Losses:
    """Compute losses and gradients, by torch, of a seeded linear head and seeded targets on both outputs.

    Raises PackvizError for an invalid seed, or if torch refused to pack the lengths.
    """
    task, real = draw_task(trace, integer("seed", seed, 0, 2**63 - 1)), trace.padded.mask
    with exact_arithmetic():
        sides = {  # the output (B, T, D*H), and the mask of the cells that count
            "padded": (run_padded(trace)[0], real),
            "packed": (packed_grid(trace), valid_cells(trace)),
        }
        *keys, packed_targets = LOSSES
        found = {
            side: {key: float(_loss(key, task.head(output), task.target, mask)) for key in keys}
            for side, (output, mask) in sides.items()
        }
        target = task.target[trace.packed.sequence, trace.packed.timestep]  # (N,): in the packed order of this run
        found["packed"][packed_targets] = float(F.cross_entropy(task.head(trace.output), target))
        with torch.enable_grad():
            unmasked, masked, packed = (_gradients_of(trace, task, kind) for kind in ("unmasked", "masked", "packed"))
    rows = tuple(_compared(name, unmasked[name], masked[name], theirs) for name, theirs in packed.items())
    norms: tuple[float, ...] = ()
    if "embedding.weight" in packed and trace.config is not None:
        pad = trace.config.pad_id
        norms = tuple(float(each["embedding.weight"][pad].norm()) for each in (unmasked, masked, packed))
    equal = [found["packed"][key] for key in ("packed_targets", "ignore_index", "masked")]
    spread = max(equal) - min(equal)
    agree = spread <= tolerance_of(task.head.weight.dtype) * max(1.0, abs(found["packed"]["masked"]))
    numbers = {"losses": found, "gradients": rows, "norms": norms, "spread": spread, "agree": agree}
    return Losses(found, rows, norms, agree, tuple(_verdicts(trace, numbers)))


def _verdicts(trace: Trace, numbers: dict[str, Any]) -> Iterator[str]:
    """Yield the sentences that apply to these numbers."""
    padded, config = trace.padded, trace.config
    batch = {"pads": int((~padded.mask).sum()), "cells": padded.mask.numel(), "pad_class": PAD_CLASS, "config": config}
    batch["packed_pads"] = int(trace.packed_is_pad.sum())
    batch["is_token"] = config is not None and bool((padded.tokens[padded.mask] == config.pad_id).any())
    batch["finite"] = isfinite(numbers["spread"])
    batch["overflowed"] = sum(not isfinite(row.size) for row in numbers["gradients"])
    for key, how in _VERDICTS:
        if text := sentence(f"losses.{key}", how=how, **numbers, **batch):
            yield text


def draw_task(trace: Trace, seed: int) -> HeadAndTargets:
    """Draw the head and the targets of a trace, the same for the same seed."""
    width, mask = directions(trace.module) * state_size(trace.module), trace.padded.mask
    generator = generator_of(seed)
    head = drawn(nn.Linear, width, CLASSES, dtype=weight_dtype(trace.module), generator=generator)
    target = torch.randint(CLASSES, mask.shape, device="cpu", generator=generator)
    return HeadAndTargets(head, target.masked_fill(~mask, PAD_CLASS))


def _loss(key: str, logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """Return the loss of logits (B, T, C) and target (B, T), computed by the line with this key."""
    loss = F.cross_entropy(logits.transpose(1, 2), target, reduction="none")
    names = {"F": F, "logits": logits, "target": target, "mask": mask, "loss": loss, "lens": mask.sum(1)}
    value: Tensor = eval(LOSSES[key], names)  # our own line: the code shown is the code run
    return value


def _compared(name: str, unmasked: Tensor, masked: Tensor, packed: Tensor) -> Gradient:
    same = [not differing(one[None], packed[None]) for one in (unmasked, masked)]
    return Gradient(name, distance(unmasked, packed), distance(masked, packed), float(packed.abs().max()), *same)


def _gradients_of(trace: Trace, task: HeadAndTargets, kind: str) -> dict[str, Tensor]:
    """Return the gradient of every parameter by name, computed by torch's autograd on copies of the weights."""
    module, head, table = copy.deepcopy(trace.module), copy.deepcopy(task.head), trace.padded.embedding
    leaves = {**dict(module.named_parameters()), "head.weight": head.weight, "head.bias": head.bias}
    values, first, tokens = trace.padded.values, trace.padded.batch_first, trace.padded.tokens
    if table is not None and trace.config is not None:
        leaves["embedding.weight"] = nn.Parameter(table.clone())
        values = F.embedding(tokens if first else tokens.t(), leaves["embedding.weight"], trace.config.padding_idx)
    if kind == "packed":
        lengths = trace.padded.lengths
        packed = pack_padded_sequence(values, lengths, first, enforce_sorted=False)
        target = pack_padded_sequence(task.target, lengths, True, enforce_sorted=False).data
        loss = F.cross_entropy(head(module(packed, initial_state(trace))[0].data), target)
    else:
        grid = module(values, initial_state(trace))[0]
        loss = _loss(kind, head(grid if first else grid.transpose(0, 1)), task.target, trace.padded.mask)
    return dict(zip(leaves, torch.autograd.grad(loss, list(leaves.values())), strict=True))
