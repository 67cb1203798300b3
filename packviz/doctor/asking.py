"""What torch does with a thing: asked now, without gradients, and without a trace in the process."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

__all__ = ["MOST_CELLS", "answer", "numbers", "pack_cells", "refusal", "run", "step_numbers", "unpack_or_say"]

MOST_CELLS = 20_000_000  # of a grid that torch is asked to make, only to see what it does

Result = TypeVar("Result")


def answer(call: Callable[[], Result], silently: Callable[[Result], str]) -> str:
    """Return 'raises RuntimeError: "..."' with torch's own first line, or what `silently` says of the result."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call()
        except Exception as error:
            return f'raises {type(error).__name__}: "{(str(error).splitlines() or [""])[0]}"'
        return silently(result)


def refusal(call: Callable[[], object]) -> str | None:
    """Return what torch raises, in words, or None where it says nothing."""
    said = answer(call, lambda _: "")
    return said or None


def pack_cells(B: int, T: int, lengths: object, *, enforce_sorted: bool) -> PackedSequence:
    """Return cell numbers (B, T), counted row by row, packed with the lengths as they came."""
    cells = torch.arange(B * T, device="cpu").view(B, T)
    return pack_padded_sequence(cells, lengths, batch_first=True, enforce_sorted=enforce_sorted)  # type: ignore[arg-type]


def unpack_or_say(packed: PackedSequence) -> str:
    """Return what pad_packed_sequence does with a packed sequence, in words."""
    return answer(lambda: pad_packed_sequence(packed, batch_first=True), lambda done: f"unpacks {numbers(done[1])}")


def run(module: nn.RNNBase, given: Tensor | PackedSequence, hx: object = None) -> object:
    """Return what the module's forward returns, past every hook, and leave torch's random numbers as they were."""
    data = given.data if isinstance(given, PackedSequence) else given
    devices = [data.device] if data.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        return type(module).forward(module, given, hx)


def numbers(values: Tensor) -> str:
    """Return the first few numbers of a tensor, in brackets."""
    flat = values.detach().flatten()
    shown = ", ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in flat[:8].tolist())
    return f"[{shown}]" if len(flat) <= 8 else f"[{shown}, …]"


def step_numbers(values: Tensor) -> str:
    """Return one step: its number, or the first few of its features in brackets."""
    return numbers(values) if values.numel() > 1 else numbers(values)[1:-1]
