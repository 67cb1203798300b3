"""Both sides of a trace, padded and packed: the runs, and a sequence alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence

from packviz.compute.backward import differentiate
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

__all__ = ["BatchDependence", "batch_dependence"]

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
    gradients = differentiate(run, "last_valid", None, proved=False)  # no picture shows this proof
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
    pads, off = len(own) - len(x), [bool(differing(one[None], other[None])) for one, other in (in_padded, in_packed)]
    said = {(False, False): "equal", (True, False): "padded_off", (False, True): "packed_off", (True, True): "both_off"}
    text = sentence(
        "drift.batch_pads" if pads else "drift.batch_no_pads",
        f"drift.batch_{said[off[0], off[1]]}",
        b=b,
        pads=pads,
        padded=distance(*in_padded),
        packed=distance(*in_packed),
    )
    return BatchDependence(in_padded, in_packed, outputs, text)
