"""Both sides of a trace, padded and packed: the runs, a sequence alone, and pads in norms, attention and pooling."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.draw import Drawn
from packviz.compute.record import Trace
from packviz.compute.trace import trace_module
from packviz.compute.verify import differing, distance
from packviz.facts.words import sentence
from packviz.inputs.module import as_hx, directions, one_layer, states_of
from packviz.inputs.packed_rows import as_grid
from packviz.inputs.tensors import valid_mask
from packviz.text import Brief
from packviz.validate import integer

__all__ = [
    "AttentionWeights",
    "BatchDependence",
    "Norms",
    "Pooling",
    "attention",
    "batch_dependence",
    "norms",
    "pooling",
]

Answer = tuple[Tensor, Tensor, Tensor | None]


def run_padded(trace: Trace) -> Answer:
    """Run torch's module over the padded grid, including the pads, from the trace's own initial state.

    Returns output (B, T, D*H), h_n (L*D, B, H) and, for the LSTM, c_n (L*D, B, H), else None.
    """
    output, state = trace.module(trace.padded.values, initial_state(trace))
    return output if trace.padded.batch_first else output.transpose(0, 1), *states_of(state)


def padded_back(trace: Trace, layer: int, direction: int) -> tuple[Tensor, Tensor]:
    """Send the gradient of a loss, the sum of the padded run's final states, back through the padded run.

    Every cell is packed, pads included: the same run as over the padded grid. Returns the gradients of the states of
    this layer and direction, (B, T, P), and of what enters the first layer, (B, T, F), at every cell of the grid.
    """
    grid = trace.padded.grid
    cells = pack_padded_sequence(grid, [grid.size(1)] * grid.size(0), batch_first=True, enforce_sorted=False)
    run = trace_module(trace.module, cells, hx=initial_state(trace))
    gradients = run.backward()
    watched = gradients.layers[layer][direction].h
    return as_grid(cells._replace(data=watched))[0], as_grid(cells._replace(data=gradients.data))[0]


def run_tokens(
    start: Trace | Drawn, sequences: Sequence[Tensor], which: Sequence[int]
) -> tuple[PackedSequence, Tensor]:
    """Run torch's module over sequences of (length, F), packed without pads, from the initial states of `which`.

    Returns the packed output and h_n (L*D, sequences, H).
    """
    packed = pack_sequence(list(sequences), enforce_sorted=False)
    output, state = start.module(packed, initial_state(start, which))
    return output, states_of(state)[0]


def layer_states(trace: Trace) -> tuple[tuple[Tensor, ...], ...]:
    """Return states[l][d]: h (B, T, H) of layer l and direction d at every cell of the padded grid, pads included.

    Torch runs each layer alone over the output of the one below; the top layer's states are the module's output.
    """
    module, values = trace.module, trace.padded.values
    D = directions(module)
    layers: list[tuple[Tensor, ...]] = []
    for layer in range(module.num_layers):
        slots = slice(layer * D, (layer + 1) * D)
        state = tuple(part[slots] for part in (trace.h_0, trace.c_0) if part is not None)
        values, _ = one_layer(module, layer)(values, state if len(state) == 2 else state[0])
        grid = values if trace.padded.batch_first else values.transpose(0, 1)
        layers.append(grid.chunk(D, 2))
    return tuple(layers)


def packed_grid(trace: Trace, filler: float | None = None) -> Tensor:
    """Return (B, T, D*H): the packed output, unpacked to the padded grid; filler None: the trace's padding_value."""
    packed, T = trace.packed_sequence._replace(data=trace.output), trace.padded.mask.size(1)
    return pad_packed_sequence(packed, True, trace.padding_value if filler is None else filler, T)[0]


def valid_cells(trace: Trace) -> Tensor:
    """Return (B, T) bool: the cells that were packed, t < length; equals the mask unless padded on the left."""
    return valid_mask(trace.padded.lengths, trace.padded.mask.size(1))


def initial_state(start: Trace | Drawn, which: Sequence[int] | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """Return the initial state of a run, h_0 (L*D, B, H), for the LSTM (h_0, c_0): of all sequences, or of some."""
    rows = slice(None) if which is None else list(which)
    return as_hx(start.h_0[:, rows], None if start.c_0 is None else start.c_0[:, rows])


def tokens_of(trace: Trace, b: int) -> Tensor:
    """Return (length, F): what enters the cell for sequence b, without its pads."""
    return trace.padded.grid[b][trace.padded.mask[b]]


def pad_input(trace: Trace) -> Tensor:
    """Return (F,): what enters the cell at a pad.

    That is the pad's embedding, or padding_value; for a module of your own it is the value of all pads of its grid,
    or zeros if they differ or there are none.
    """
    padded, config = trace.padded, trace.config
    if config is not None:
        filler = torch.full_like(padded.grid[0, 0], config.padding_value)
        return filler if padded.embedding is None else padded.embedding[config.pad_id]
    pads = padded.grid[~padded.mask]  # (pads, F)
    alike = len(pads) > 0 and bool((pads == pads[0]).all())
    return pads[0].clone() if alike else torch.zeros_like(padded.grid[0, 0])


def a_sequence(trace: Trace, b: object) -> int:
    """Return b as an int; raises PackvizError if the batch has no such sequence."""
    return integer("b", b, 0, len(trace.padded.lengths) - 1, what="a sequence", fix="choose a sequence of this batch")


@dataclass(frozen=True, eq=False, repr=False)
class BatchDependence(Brief):
    """The results of one sequence alone and in this batch, padded and packed."""

    # the top layer's h_n alone and in the batch, (D*H,) each: both directions side by side
    padded: tuple[Tensor, Tensor]
    packed: tuple[Tensor, Tensor]  # the same, packed
    # the largest difference between its outputs alone and in the batch, over its own tokens: padded and packed
    outputs: tuple[float, float]
    sentence: str  # what the batch does to this sequence


def batch_dependence(trace: Trace, b: int = 0) -> BatchDependence:
    """Run torch's module over sequence b alone, padded to its own length and packed, and compare with the batch's runs.

    Raises PackvizError if there is no such sequence, or if torch refused to pack the lengths.
    """
    b = a_sequence(trace, b)
    x, own, D = tokens_of(trace, b), trace.padded.mask[b], directions(trace.module)
    axis = 0 if trace.module.batch_first else 1
    with exact_arithmetic():
        output, h_n, _ = run_padded(trace)
        alone, state = trace.module(x.unsqueeze(axis), initial_state(trace, [b]))
        packed, packed_h_n = run_tokens(trace, [x], [b])
        in_batch = packed_grid(trace)[b, : len(x)]
    outputs = distance(output[b][own], alone.squeeze(axis)), distance(in_batch, packed.data)
    in_padded = states_of(state)[0][-D:, 0].flatten(), h_n[-D:, b].flatten()
    in_packed = packed_h_n[-D:, 0].flatten(), trace.h_n[-D:, b].flatten()
    known: dict[str, object] = {"b": b, "pads": len(own) - len(x)}
    for side, (one, other) in {"padded": in_padded, "packed": in_packed}.items():
        known |= {side: distance(one, other), f"{side}_off": differing(one[None], other[None])}
    return BatchDependence(in_padded, in_packed, outputs, sentence("drift.batch", **known))


@dataclass(frozen=True, eq=False, repr=False)
class Norms(Brief):
    """The statistics batch norm would use, (F,) each: mean and biased variance (correction=0)."""

    mean_padded: Tensor  # over all cells of the grid, pads included
    var_padded: Tensor
    mean_packed: Tensor  # over packed data
    var_packed: Tensor
    sentence: str  # how far they are apart


def norms(trace: Trace) -> Norms:
    """Compute, by torch, mean and variance of each feature, over the padded grid and over packed data.

    Raises PackvizError if torch refused to pack the lengths.
    """
    rows, cells = trace.packed.data, trace.padded.grid.flatten(0, 1)
    with exact_arithmetic():
        var_padded, mean_padded = torch.var_mean(cells, 0, correction=0)
        var_packed, mean_packed = torch.var_mean(rows, 0, correction=0)
    f = int((mean_padded - mean_packed).abs().argmax())
    known = {"f": f, "mean_padded": mean_padded[f], "mean_packed": mean_packed[f]}
    known |= {"mean": distance(mean_padded, mean_packed), "var": distance(var_padded, var_packed)}
    known |= {"cells": len(cells), "rows": len(rows), "packed_pads": int(trace.packed_is_pad.sum())}
    return Norms(mean_padded, var_padded, mean_packed, var_packed, sentence("statistics.norms", **known))


@dataclass(frozen=True, eq=False, repr=False)
class AttentionWeights(Brief):
    """The softmax weights of one query per sequence over all its cells, (B, T) each.

    The query is the state after the sequence's last step, the keys are the unpacked output with zeros as filler.
    """

    unmasked: Tensor  # the weights without a mask
    masked: Tensor  # the weights with scores of -inf at cells that were not packed
    leaks: Tensor  # (B,): the share of the weight on pads without a mask, 0.0 to 1.0
    leaks_masked: Tensor  # (B,): the same with the mask by length; above 0 only if pads were packed
    sentence: str  # how much weight leaks to pads


def attention(trace: Trace) -> AttentionWeights:
    """Compute the attention of each sequence's last valid state over its row of the unpacked output.

    The weights are the softmax of dot products.

    Raises PackvizError if torch refused to pack the lengths.
    """
    keys, real = packed_grid(trace, 0.0), trace.padded.mask
    with exact_arithmetic():
        scores = torch.einsum("bth,bh->bt", keys, trace.unpacked.last_valid)
        unmasked, masked = scores.softmax(1), scores.masked_fill(~valid_cells(trace), float("-inf")).softmax(1)
    leaks, leaks_masked = (weights.masked_fill(real, 0.0).sum(1) for weights in (unmasked, masked))
    known = {"short": (~real).any(1).nonzero().flatten().tolist(), "through": int(trace.packed_is_pad.sum())}
    text = sentence("statistics.attention", leaks=100 * leaks, masked=100 * leaks_masked.max(), **known)
    return AttentionWeights(unmasked, masked, leaks, leaks_masked, text)


@dataclass(frozen=True, eq=False, repr=False)
class Pooling(Brief):
    """The mean and the maximum over time of the unpacked output with zeros as filler, (B, D*H) each."""

    mean: Tensor  # over all columns of the grid, filler included
    max: Tensor
    mean_valid: Tensor  # over only the packed steps of each sequence
    max_valid: Tensor
    sentence: str  # for which sequences filler changes the mean and the maximum


def pooling(trace: Trace) -> Pooling:
    """Take the mean and the maximum over time, with and without filler.

    Raises PackvizError if torch refused to pack the lengths.
    """
    grid, outside = packed_grid(trace, 0.0), ~valid_cells(trace).unsqueeze(2)
    with exact_arithmetic():
        mean_valid = grid.sum(1) / trace.padded.lengths.unsqueeze(1)  # the filler is 0
        max_valid = grid.masked_fill(outside, float("-inf")).amax(1)
        mean, largest = grid.mean(1), grid.amax(1)
    pairs = {"mean": (mean, mean_valid), "max": (largest, max_valid)}
    off = {name: (differing(*pair), distance(*pair)) for name, pair in pairs.items()}
    text = sentence("statistics.pooling", off=off, packed_pads=int(trace.packed_is_pad.sum()))
    return Pooling(mean, largest, mean_valid, max_valid, text)
