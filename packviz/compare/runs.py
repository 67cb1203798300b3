"""How both sides are run: a plain copy of the module over the padded grid, and over the tokens alone."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from packviz.modules import directions, state_size, weight_dtype
from packviz.record import Trace

__all__ = ["Answer", "initial_state", "layer_states", "pad_input", "plain", "run_padded", "run_tokens", "tokens_of"]

Answer = tuple[Tensor, Tensor, Tensor | None]


def plain(module: nn.RNNBase, layer: int | None = None) -> nn.RNNBase:
    """Return a module of torch's own class with copies of the weights, in evaluation; or one layer of it.

    The weights are leaves that want gradients. The module itself, its gradients and its hooks are left as they are.
    """
    D = directions(module)
    rows = module._all_weights if layer is None else module._all_weights[layer * D : (layer + 1) * D]
    names = [name for row in rows for name in row]
    settings = {
        "input_size": D * state_size(module) if layer else module.input_size,
        "hidden_size": module.hidden_size,
        "num_layers": module.num_layers if layer is None else 1,
        "bias": module.bias,
        "batch_first": module.batch_first,
        "bidirectional": module.bidirectional,
        "device": "meta",
        "dtype": weight_dtype(module),
    }
    if module.mode == "LSTM":
        copy: nn.RNNBase = nn.LSTM(**settings, proj_size=module.proj_size)
    elif module.mode == "GRU":
        copy = nn.GRU(**settings)
    else:
        copy = nn.RNN(**settings, nonlinearity=module.mode.removeprefix("RNN_").lower())
    weights = {name.replace(f"_l{layer}", "_l0"): getattr(module, name).detach().clone() for name in names}
    copy.load_state_dict(weights, assign=True)
    return copy.eval()


def run_padded(trace: Trace) -> Answer:
    """Run torch's module over the padded grid as it is, pads and all, from the trace's own initial state.

    Return output (B, T, D*H), h_n (L*D, B, H) and, for the LSTM, c_n (L*D, B, H), else None.
    """
    output, h_n, c_n = _split(plain(trace.module)(trace.padded.values, initial_state(trace)))
    return output if trace.padded.batch_first else output.transpose(0, 1), h_n, c_n


def run_tokens(trace: Trace, sequences: Sequence[Tensor], which: Sequence[int]) -> tuple[PackedSequence, Tensor]:
    """Run torch's module over sequences of (length, F), packed without a pad, from the initial states of `which`.

    Return the packed output and h_n (L*D, sequences, H).
    """
    packed = pack_sequence(list(sequences), enforce_sorted=False)
    output, state = plain(trace.module)(packed, initial_state(trace, which))
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
        values, *_ = plain(module, layer)(values, state if len(state) == 2 else state[0])
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
        return padded.embedding[(trace.config.padding_idx or 0) if trace.config is not None else 0]
    if trace.config is not None:
        return torch.full_like(padded.grid[0, 0], trace.config.padding_value)
    pads = padded.grid[~padded.mask]  # (pads, F)
    alike = len(pads) > 0 and bool((pads == pads[0]).all())
    return pads[0].clone() if alike else torch.zeros_like(padded.grid[0, 0])


def _split(answer: tuple[Tensor, Tensor | tuple[Tensor, Tensor]]) -> Answer:
    output, state = answer
    return (output, *state) if isinstance(state, tuple) else (output, state, None)
