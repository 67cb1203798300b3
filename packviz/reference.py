"""The judge: the same run by torch's own module, and how far apart two results are."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from packviz.modules import directions, weight_dtype
from packviz.record import Trace

__all__ = ["distance", "prove", "run_module"]

State = Tensor | tuple[Tensor, Tensor]


def run_module(module: nn.RNNBase, packed: PackedSequence, hx: object) -> tuple[PackedSequence, State]:
    """Run torch's own RNN, GRU or LSTM with the module's parameters, in evaluation.

    The module itself is not called: a bare one of torch's classes is given its parameters for this one call, so that
    its training flag, its hooks and its cached weights stay as they are.
    """
    parameters = {name: getattr(module, name).detach() for name in _parameter_names(module)}
    answer: tuple[PackedSequence, State] = functional_call(_bare(module), parameters, (packed, hx))
    return answer


def prove(done: Trace) -> dict[str, float]:
    """Return, by name, how far the record is from torch's own run on the same packed input.

    data is compared with the cells of the grid that its rows claim to come from; batch_sizes with a count of the
    lengths; last_valid with the top layer's h_n.
    """
    packed, padded = done.packed, done.padded
    ours = {
        "data": padded.grid[packed.sequence, packed.timestep],
        "batch_sizes": _live_counts(padded.lengths),
        "output": done.output,
        "h_n": done.h_n,
        "c_n": done.c_n,
        "unpacked": done.unpacked.output,
        "last_valid": done.unpacked.last_valid,
    }
    return {name: distance(ours[name], theirs) for name, theirs in _torch_answers(done).items()}


def _torch_answers(done: Trace) -> dict[str, Tensor]:
    module, packed = done.module, done.packed_sequence
    output, state = run_module(module, packed, done.h_0 if done.c_0 is None else (done.h_0, done.c_0))
    h_n, *c_n = state if isinstance(state, tuple) else (state,)
    unpacked, _ = pad_packed_sequence(output, done.padded.batch_first, done.padding_value, done.total_length)
    top = h_n[-directions(module) :].unbind(0)  # (B, H) for each direction
    return {
        "data": packed.data,
        "batch_sizes": output.batch_sizes,
        "output": output.data,
        "h_n": h_n,
        **({"c_n": c_n[0]} if c_n else {}),
        "unpacked": unpacked,
        "last_valid": torch.cat(top, 1),
    }


def _live_counts(lengths: Tensor) -> Tensor:
    """Return (T,): how many of the lengths (B,) are greater than 0, 1, 2, …"""
    at_most = torch.bincount(lengths).cumsum(0)  # (T + 1,): how many are at most 0, 1, 2, …
    return len(lengths) - at_most[:-1]


def distance(ours: Tensor | None, theirs: Tensor) -> float:
    """Return the largest distance between two numbers in the same place: 0.0 where all are identical.

    A nan is identical with a nan, and an infinity with itself; a nan beside a number makes the distance nan, another
    shape or dtype, or no tensor, makes it infinite.
    """
    if ours is None or ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return float("inf")
    if torch.equal(ours, theirs):
        return 0.0
    same = (ours == theirs) | (ours.isnan() & theirs.isnan())
    apart = (ours.double() - theirs.double()).abs()
    return float(apart.masked_fill(same, 0.0).max())


def _parameter_names(module: nn.RNNBase) -> list[str]:
    return [name for layer in module._all_weights for name in layer]


def _bare(module: nn.RNNBase) -> nn.RNNBase:
    """Return a module of torch's own class with the same sizes and no memory, in evaluation."""
    sizes = (module.input_size, module.hidden_size, module.num_layers, module.bias, module.batch_first)
    settings = {"bidirectional": module.bidirectional, "device": "meta", "dtype": weight_dtype(module)}
    if module.mode == "LSTM":
        bare: nn.RNNBase = nn.LSTM(*sizes, proj_size=module.proj_size, **settings)
    elif module.mode == "GRU":
        bare = nn.GRU(*sizes, **settings)
    else:
        bare = nn.RNN(*sizes[:3], module.mode.removeprefix("RNN_").lower(), *sizes[3:], **settings)
    return bare.eval()
