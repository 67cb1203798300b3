"""Random modules and batches, each known by its seed, and torch's own run of them."""

import random
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz import Batch, Config, Trace, trace

KINDS = ("rnn tanh", "rnn relu", "gru", "lstm", "lstm projected")
SIZES = (1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 64)  # of features and hidden states: vector code has remainders
COUNTS = (1, 1, 2, 3, 5, 17, 20, 33)  # of sequences: torch's sort is not stable from 17 equal lengths on

State = Tensor | tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Case:
    module: nn.RNNBase
    x: Tensor
    lengths: list[int]
    enforce_sorted: bool
    hx: State | None

    @property
    def packed(self) -> PackedSequence:
        return pack_padded_sequence(self.x, torch.tensor(self.lengths), self.module.batch_first, self.enforce_sorted)


def made(text: str = "1 2 3\n4 5\n6 7 8 9", **settings: Any) -> Trace:
    return trace(Batch.parse(text), Config(**settings))


def random_case(seed: int) -> Case:
    draw = random.Random(seed)
    torch.manual_seed(seed)
    dtype = draw.choice((torch.float32, torch.float64))
    B, T, F = draw.choice(COUNTS), draw.randint(1, 10), draw.choice(SIZES)
    module = random_module(draw, F, dtype)
    enforce_sorted = draw.random() < 0.3
    lengths = random_lengths(draw, B, T)
    if enforce_sorted:
        lengths.sort(reverse=True)
    wide = T + draw.choice((0, 0, 0, 2))  # columns that no length reaches
    x = torch.randn((B, wide, F) if module.batch_first else (wide, B, F), dtype=dtype)
    return Case(module, x, lengths, enforce_sorted, random_state(module, B, dtype) if draw.random() < 0.5 else None)


def random_module(draw: random.Random, F: int, dtype: torch.dtype) -> nn.RNNBase:
    kind, H = draw.choice(KINDS), draw.choice(SIZES)
    settings = {
        "num_layers": draw.choice((1, 1, 2, 3, 4)),
        "bidirectional": draw.random() < 0.5,
        "bias": draw.random() < 0.8,
        "batch_first": draw.random() < 0.5,
        "dtype": dtype,
    }
    if kind.startswith("rnn"):
        return nn.RNN(F, H, nonlinearity=kind.split()[1], **settings)
    if kind == "lstm projected":
        return nn.LSTM(F, H + 1, proj_size=draw.randint(1, H), **settings)
    return (nn.GRU if kind == "gru" else nn.LSTM)(F, H, **settings)


def random_lengths(draw: random.Random, B: int, T: int) -> list[int]:
    pattern = draw.choice(("any", "ties", "equal", "ones"))
    if pattern == "any":
        return [draw.randint(1, T) for _ in range(B)]
    return [draw.choice((1, T)) if pattern == "ties" else T if pattern == "equal" else 1 for _ in range(B)]


def random_state(module: nn.RNNBase, B: int, dtype: torch.dtype) -> State:
    slots = module.num_layers * (2 if module.bidirectional else 1)
    h_0 = torch.randn(slots, B, module.proj_size or module.hidden_size, dtype=dtype)
    if module.mode != "LSTM":
        return h_0
    return h_0, torch.randn(slots, B, module.hidden_size, dtype=dtype)


def torch_run(module: nn.RNNBase, x: Any, hx: Any) -> tuple[Any, tuple[Tensor, ...]]:
    """Call the module as anybody would, without oneDNN; return its output and (h_n,) or (h_n, c_n)."""
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        output, state = module(x, hx)
    return output, state if isinstance(state, tuple) else (state,)
