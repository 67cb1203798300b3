"""The traces that the facts are held to, random ones and those made from text; and torch's own runs of them."""

from functools import cache
from typing import Any

import torch
from random_runs import random_run
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from trace_cases import made, random_case, torch_run

from packviz.compute.trace import Trace, trace, trace_module

__all__ = ["alone", "batch_first", "bound", "hx_of", "made", "packed_run", "padded_run", "refused", "studied"]


def refused() -> Trace:
    """Return a trace that ends after the padded grid: torch refuses its lengths."""
    return made("0\n2 3 0", enforce_sorted=True)


@cache
def studied(seed: int) -> Trace:
    """Return a trace that torch packed, the same for the same seed."""
    if seed % 5 == 4:
        case = random_case(seed)
        if seed % 2:
            return trace_module(case.module, case.packed, hx=case.hx)
        return trace_module(case.module, case.x, case.lengths, enforce_sorted=case.enforce_sorted, hx=case.hx)
    run = random_run(seed // 6 * 7 + seed % 6)  # of the kinds all but the last: integers beyond what float32 can hold
    return trace(run.batch, run.config)


Answer = tuple[Tensor, tuple[Tensor, ...]]


def hx_of(trace: Trace, b: int | None = None) -> Any:
    rows = slice(None) if b is None else slice(b, b + 1)
    h_0 = trace.h_0[:, rows].contiguous()
    return h_0 if trace.c_0 is None else (h_0, trace.c_0[:, rows].contiguous())


def padded_run(trace: Trace) -> Answer:
    """Return (B, T, D*H) and (h_n,) or (h_n, c_n)."""
    output, state = torch_run(trace.module, trace.padded.values, hx_of(trace))
    return batch_first(trace, output), state


def packed_run(trace: Trace) -> Answer:
    """Return (B, T, D*H), as wide as the padded grid, and (h_n,) or (h_n, c_n)."""
    grid, lengths = trace.padded.grid, trace.padded.lengths
    packed = pack_padded_sequence(grid, lengths, True, enforce_sorted=False)
    output, state = torch_run(trace.module, packed, hx_of(trace))
    return pad_packed_sequence(output, True, trace.padding_value, grid.size(1))[0], state


def alone(trace: Trace, b: int, pads: Tensor | None = None) -> Answer:
    """Return (length, D*H) and the states (L*D, H) of one sequence alone, with more steps (k, F) after it."""
    x = trace.padded.grid[b][trace.padded.mask[b]]
    x = x if pads is None else torch.cat([x, pads])
    output, state = torch_run(trace.module, x.unsqueeze(0 if trace.module.batch_first else 1), hx_of(trace, b))
    return batch_first(trace, output)[0], tuple(part[:, 0] for part in state)


def batch_first(trace: Trace, output: Tensor) -> Tensor:
    return output if trace.module.batch_first else output.transpose(0, 1)


def bound(trace: Trace, *tensors: Tensor) -> float:
    """Return how far rounding may take such numbers apart."""
    largest = max([1.0, *(float(tensor.abs().max()) for tensor in tensors)])
    return (1e-12 if trace.h_0.dtype == torch.float64 else 1e-5) * largest
