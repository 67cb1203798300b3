"""The traces that the facts are held to, random ones and those made from text; and torch's own runs of them."""

import random
from functools import cache
from typing import Any

import pytest
import torch
from seeds import seeds
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from trace_cases import random_case, random_lengths

from packviz.compute.trace import Trace, trace, trace_module
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config

__all__ = ["SEEDS", "alone", "batch_first", "bound", "each_seed", "hx_of", "made", "packed_run", "padded_run"]
__all__ += ["refused", "studied"]

SEEDS = seeds(20)
each_seed = pytest.mark.parametrize("seed", SEEDS)
COUNTS = (1, 2, 3, 5, 17, 20, 40)


def made(text: str = "1 2 3\n4 5\n6 7 8 9", **settings: Any) -> Trace:
    return trace(Batch.parse(text), Config(**settings))


def refused() -> Trace:
    """Return a trace that ends after the padded grid: torch refuses its lengths."""
    return made("0\n2 3 0", enforce_sorted=True)


@cache
def studied(seed: int) -> Trace:
    """Return a trace that torch packed, the same for the same seed."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    if seed % 5 == 4:
        case = random_case(seed)
        if draw.random() < 0.3:
            return trace_module(case.module, case.packed, hx=case.hx)
        return trace_module(case.module, case.x, case.lengths, enforce_sorted=case.enforce_sorted, hx=case.hx)
    lengths = random_lengths(draw, draw.choice(COUNTS), draw.randint(1, 8))
    enforce_sorted = draw.random() < 0.3
    if enforce_sorted:
        lengths.sort(reverse=True)
    kind = ("words", "numbers", "embedded", "vectors")[seed % 5]
    embedded: Any = {"padding_idx": draw.choice((None, 0, 2))} if kind in ("words", "embedded") else {}
    return trace(
        _batch(draw, kind, lengths),
        Config(
            cell=draw.choice(("rnn", "gru", "lstm")),
            hidden_size=draw.randint(1, 5),
            num_layers=draw.choice((1, 2)),
            bidirectional=draw.random() < 0.5,
            bias=draw.random() < 0.7,
            batch_first=draw.random() < 0.5,
            enforce_sorted=enforce_sorted,
            padding_value=draw.choice((0.0, 0.0, -1.0, 3.0)),
            padding_side=draw.choice(("right", "right", "left")),
            initial_state=draw.choice(("zeros", "random", "learned")),
            embedding_dim=draw.randint(1, 4) if embedded else None,
            seed=seed,
            **embedded,
        ),
    )


def _batch(draw: random.Random, kind: str, lengths: list[int]) -> Batch:
    if kind == "words":
        return Batch.parse("\n".join(" ".join(draw.choice("abcdef") for _ in range(n)) for n in lengths), kind="words")
    if kind == "embedded":
        return Batch.from_tensors([torch.randint(0, 5, (n,)) for n in lengths])
    dtype = draw.choice((torch.float32, torch.float64))
    shape = () if kind == "numbers" else (draw.randint(1, 3),)
    return Batch.from_tensors([torch.randint(-1, 4, (n, *shape)).to(dtype) for n in lengths])


Answer = tuple[Tensor, tuple[Tensor, ...]]


def hx_of(trace: Trace, b: int | None = None) -> Any:
    rows = slice(None) if b is None else slice(b, b + 1)
    h_0 = trace.h_0[:, rows].contiguous()
    return h_0 if trace.c_0 is None else (h_0, trace.c_0[:, rows].contiguous())


def padded_run(trace: Trace) -> Answer:
    """Return (B, T, D*H) and (h_n,) or (h_n, c_n)."""
    output, state = _call(trace, trace.padded.values, hx_of(trace))
    return batch_first(trace, output), state


def packed_run(trace: Trace) -> Answer:
    """Return (B, T, D*H), as wide as the padded grid, and (h_n,) or (h_n, c_n)."""
    grid, lengths = trace.padded.grid, trace.padded.lengths
    packed = pack_padded_sequence(grid, lengths, True, enforce_sorted=False)
    output, state = _call(trace, packed, hx_of(trace))
    return pad_packed_sequence(output, True, trace.padding_value, grid.size(1))[0], state


def alone(trace: Trace, b: int, pads: Tensor | None = None) -> Answer:
    """Return (length, D*H) and the states (L*D, H) of one sequence alone, with more steps (k, F) after it."""
    x = trace.padded.grid[b][trace.padded.mask[b]]
    x = x if pads is None else torch.cat([x, pads])
    output, state = _call(trace, x.unsqueeze(0 if trace.module.batch_first else 1), hx_of(trace, b))
    return batch_first(trace, output)[0], tuple(part[:, 0] for part in state)


def batch_first(trace: Trace, output: Tensor) -> Tensor:
    return output if trace.module.batch_first else output.transpose(0, 1)


def bound(trace: Trace, *tensors: Tensor) -> float:
    """Return how far rounding may take such numbers apart."""
    largest = max([1.0, *(float(tensor.abs().max()) for tensor in tensors)])
    return (1e-12 if trace.h_0.dtype == torch.float64 else 1e-5) * largest


def _call(trace: Trace, x: Any, hx: Any) -> tuple[Any, tuple[Tensor, ...]]:
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        output, state = trace.module(x, hx)
    return output, state if isinstance(state, tuple) else (state,)
