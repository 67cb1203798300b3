"""How both sides are run: the module of the trace over the padded grid, and over the tokens alone."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from packviz.compute.record import Trace
from packviz.inputs.module import directions, one_layer

__all__ = ["Answer", "initial_state", "layer_states", "pad_input", "run_padded", "run_tokens", "tokens_of"]

Answer = tuple[Tensor, Tensor, Tensor | None]


def run_padded(trace: Trace) -> Answer:
    """Run torch's module over the padded grid as it is, pads and all, from the trace's own initial state.

    Return output (B, T, D*H), h_n (L*D, B, H) and, for the LSTM, c_n (L*D, B, H), else None.
    """
    output, h_n, c_n = _split(trace.module(trace.padded.values, initial_state(trace)))
    return output if trace.padded.batch_first else output.transpose(0, 1), h_n, c_n


def run_tokens(trace: Trace, sequences: Sequence[Tensor], which: Sequence[int]) -> tuple[PackedSequence, Tensor]:
    """Run torch's module over sequences of (length, F), packed without a pad, from the initial states of `which`.

    Return the packed output and h_n (L*D, sequences, H).
    """
    packed = pack_sequence(list(sequences), enforce_sorted=False)
    output, state = trace.module(packed, initial_state(trace, which))
    return output, state[0] if isinstance(state, tuple) else state


def layer_states(trace: Trace) -> tuple[tuple[Tensor, ...], ...]:
    """Return states[l][d]: h (B, T, H) of layer l and direction d at every cell of the padded grid, pads too.

    Torch runs each layer alone over the output of the one below; the top layer's states are the module's output.
    """
    module, values = trace.module, trace.padded.values
    D = directions(module)
    layers: list[tuple[Tensor, ...]] = []
    for layer in range(module.num_layers):
        slots = slice(layer * D, (layer + 1) * D)
        state = tuple(part[slots] for part in (trace.h_0, trace.c_0) if part is not None)
        values, *_ = one_layer(module, layer)(values, state if len(state) == 2 else state[0])
        grid = values if trace.padded.batch_first else values.transpose(0, 1)
        layers.append(grid.chunk(D, 2))
    return tuple(layers)


def initial_state(trace: Trace, which: Sequence[int] | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """Return the trace's own h_0 (L*D, B, H), for the LSTM (h_0, c_0): of all sequences, or of some."""
    rows = range(len(trace.padded.lengths)) if which is None else which
    h_0 = trace.h_0[:, list(rows)]
    return h_0 if trace.c_0 is None else (h_0, trace.c_0[:, list(rows)])


def tokens_of(trace: Trace, b: int) -> Tensor:
    """Return (length, F): what enters the cell for sequence b, without its pads."""
    return trace.padded.grid[b][trace.padded.mask[b]]


def pad_input(trace: Trace) -> Tensor:
    """Return (F,): what enters the cell at a pad.

    That is the pad's embedding, or padding_value; for a module of your own what stands in all the pads of its grid,
    and zeros where they differ or where there is none.
    """
    padded = trace.padded
    if padded.embedding is not None:
        return padded.embedding[trace.config.pad_id if trace.config is not None else 0]
    if trace.config is not None:
        return torch.full_like(padded.grid[0, 0], trace.config.padding_value)
    pads = padded.grid[~padded.mask]  # (pads, F)
    alike = len(pads) > 0 and bool((pads == pads[0]).all())
    return pads[0].clone() if alike else torch.zeros_like(padded.grid[0, 0])


def _split(answer: tuple[Tensor, Tensor | tuple[Tensor, Tensor]]) -> Answer:
    output, state = answer
    return (output, *state) if isinstance(state, tuple) else (output, state, None)
