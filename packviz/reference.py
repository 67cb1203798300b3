"""The judge: the same run by torch's own module, and how far apart two results are."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from packviz.modules import weight_dtype

__all__ = ["distance", "distances", "run_module", "torch_answers"]

State = Tensor | tuple[Tensor, Tensor]


def run_module(module: nn.RNNBase, packed: PackedSequence, hx: object) -> tuple[PackedSequence, State]:
    """Run torch's own RNN, GRU or LSTM with the module's parameters, in evaluation.

    The module itself is not called: a bare one of torch's classes is given its parameters for this one call, so that
    its training flag, its hooks and its cached weights stay as they are.
    """
    parameters = {name: getattr(module, name).detach() for name in _parameter_names(module)}
    answer: tuple[PackedSequence, State] = functional_call(_bare(module), parameters, (packed, hx))
    return answer


def torch_answers(
    module: nn.RNNBase, packed: PackedSequence, hx: State, *, padding_value: float, total_length: int | None
) -> dict[str, Tensor]:
    """Return what torch says of this run: batch_sizes, output (N, D*H), h_n, c_n (LSTM), unpacked, last_valid (B, D*H).

    last_valid is the top layer's h_n, its directions side by side.
    """
    output, state = run_module(module, packed, hx)
    h_n, *c_n = state if isinstance(state, tuple) else (state,)
    D = 2 if module.bidirectional else 1
    return {
        "batch_sizes": output.batch_sizes,
        "output": output.data,
        "h_n": h_n,
        **({"c_n": c_n[0]} if c_n else {}),
        "unpacked": pad_packed_sequence(output, module.batch_first, padding_value, total_length)[0],
        "last_valid": torch.cat(h_n[-D:].unbind(0), 1),
    }


def distances(ours: Mapping[str, Tensor | None], theirs: Mapping[str, Tensor]) -> dict[str, float]:
    """Return the distance of every tensor that torch answered with."""
    return {name: distance(ours[name], answer) for name, answer in theirs.items()}


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
