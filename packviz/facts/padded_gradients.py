"""How far the gradients of a padded run are from those of the packed one, with a mask in the loss and without."""

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Trace
from packviz.compute.verify import differing, distance
from packviz.compute.weights import drawn, generator_of
from packviz.facts.padded_run import initial_state
from packviz.inputs.module import directions, state_size, weight_dtype
from packviz.text import Brief
from packviz.validate import integer

__all__ = ["Gradient", "HeadAndTargets", "draw_head", "gradient_distances"]

CLASSES = 5
PAD_CLASS = 0  # the target at a pad: a class like any other, unless a mask excludes it


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


def gradient_distances(trace: Trace, seed: int = 0) -> tuple[Gradient, ...]:
    """Compute the gradients of the cross entropy of a seeded linear head and seeded targets, padded and packed.

    Returns a record for each parameter, computed by torch's autograd on copies of the weights.
    Raises PackvizError for an invalid seed, or if torch refused to pack the lengths.
    """
    drawn_from = draw_head(trace, integer("seed", seed, 0, 2**63 - 1))
    trace.packed  # noqa: B018  # raises for a refused batch
    with exact_arithmetic(), torch.enable_grad():
        unmasked, masked, packed = (_gradients(trace, drawn_from, kind) for kind in ("unmasked", "masked", "packed"))
    return tuple(_compared(name, unmasked[name], masked[name], theirs) for name, theirs in packed.items())


def draw_head(trace: Trace, seed: int) -> HeadAndTargets:
    """Draw the head and the targets of a trace, the same for the same seed."""
    width, mask = directions(trace.module) * state_size(trace.module), trace.padded.mask
    generator = generator_of(seed)
    head = drawn(nn.Linear, width, CLASSES, dtype=weight_dtype(trace.module), generator=generator)
    target = torch.randint(CLASSES, mask.shape, device="cpu", generator=generator)
    return HeadAndTargets(head, target.masked_fill(~mask, PAD_CLASS))


def _compared(name: str, unmasked: Tensor, masked: Tensor, packed: Tensor) -> Gradient:
    same = [not differing(one[None], packed[None]) for one in (unmasked, masked)]
    return Gradient(name, distance(unmasked, packed), distance(masked, packed), float(packed.abs().max()), *same)


def _gradients(trace: Trace, drawn_from: HeadAndTargets, kind: str) -> dict[str, Tensor]:
    """Return the gradient of every parameter by name."""
    module, head, table = copy.deepcopy(trace.module), copy.deepcopy(drawn_from.head), trace.padded.embedding
    leaves = {**dict(module.named_parameters()), "head.weight": head.weight, "head.bias": head.bias}
    values, first, tokens = trace.padded.values, trace.padded.batch_first, trace.padded.tokens
    if table is not None and trace.config is not None:
        leaves["embedding.weight"] = nn.Parameter(table.clone())
        values = F.embedding(tokens if first else tokens.t(), leaves["embedding.weight"], trace.config.padding_idx)
    if kind == "packed":
        lengths = trace.padded.lengths
        packed = pack_padded_sequence(values, lengths, first, enforce_sorted=False)
        target = pack_padded_sequence(drawn_from.target, lengths, True, enforce_sorted=False).data
        logits = head(module(packed, initial_state(trace))[0].data)
    else:
        grid = module(values, initial_state(trace))[0]
        counts = trace.padded.mask if kind == "masked" else torch.ones_like(trace.padded.mask)
        logits, target = head(grid if first else grid.transpose(0, 1))[counts], drawn_from.target[counts]
    loss = F.cross_entropy(logits, target)
    return dict(zip(leaves, torch.autograd.grad(loss, list(leaves.values())), strict=True))
