"""Weights as torch draws them after manual_seed(seed), from a generator of their own.

torch's global generator belongs to the whole process: a thread that draws from it, or restores its state, changes what
its neighbours get. So a module is built without weights, on the meta device, and filled in the order in which torch's
``reset_parameters`` fills it.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn
from torch.nn import init

Module = TypeVar("Module", bound=nn.RNNBase | nn.Linear | nn.Conv1d)


def generator_of(seed: int) -> torch.Generator:
    """Return a generator that gives what torch's own gives after ``torch.manual_seed(seed)``."""
    return torch.Generator("cpu").manual_seed(seed)


def drawn(build: Callable[..., Module], *sizes: Any, generator: torch.Generator, **settings: Any) -> Module:
    """Return build(*sizes, **settings) on the CPU with the weights that torch would give it, drawn from `generator`.

    build makes an RNN, GRU, LSTM, Linear or Conv1d.
    """
    module = build(*sizes, **settings, device="meta")
    module.to_empty(device="cpu")
    _fill(module, generator)
    return module


def _fill(module: nn.RNNBase | nn.Linear | nn.Conv1d, generator: torch.Generator) -> None:
    if isinstance(module, nn.RNNBase):
        bound = 1.0 / math.sqrt(module.hidden_size)
        for weight in module.parameters():
            init.uniform_(weight, -bound, bound, generator)
    else:
        init.kaiming_uniform_(module.weight, a=math.sqrt(5), generator=generator)
        if module.bias is not None:
            bound = 1 / math.sqrt(module.weight[0].numel())
            init.uniform_(module.bias, -bound, bound, generator)


def drawn_embedding(
    V: int, E: int, padding_idx: int | None = None, *, dtype: torch.dtype, generator: torch.Generator
) -> nn.Embedding:
    """Return nn.Embedding(V, E, padding_idx) with the table that torch would give it, drawn from `generator`."""
    table = init.normal_(torch.empty(V, E, dtype=dtype, device="cpu"), generator=generator)
    if padding_idx is not None:
        table[padding_idx] = 0.0
    return nn.Embedding(V, E, padding_idx, _weight=table)
