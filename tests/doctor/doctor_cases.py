"""Sound batches of every kind, known by their seed, the way to carry out a repair, and files."""

import io
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_sequence
from trace_cases import random_lengths, random_module, random_state

from packviz.doctor import Finding, examine

SOURCES = ("normal", "relu", "dropout", "ids from 1", "ids with 0", "whole numbers", "zeros inside")


def pack(x: Tensor, lengths: Any, batch_first: bool = True, enforce_sorted: bool = False) -> PackedSequence:
    return pack_padded_sequence(x, lengths, batch_first, enforce_sorted)


def on_the_left(grid: Tensor, lengths: Sequence[int]) -> Tensor:
    """Return a grid (B, T, ...) with its pads before the tokens."""
    return torch.stack([row.roll(len(row) - n, 0) for row, n in zip(grid, lengths, strict=True)])


@dataclass(frozen=True)
class Sound:
    """A batch with nothing wrong: x according to batch_first, lengths, and what else examine() is given."""

    sequences: list[Tensor]
    x: Tensor
    lengths: list[int]
    batch_first: bool
    enforce_sorted: bool
    pad: float
    options: dict[str, Any] = field(default_factory=dict)
    module: nn.RNNBase | None = None

    @property
    def grid(self) -> Tensor:
        return self.x if self.batch_first else self.x.transpose(0, 1)

    @property
    def packed(self) -> PackedSequence:
        return pack(self.x, self.lengths, self.batch_first, self.enforce_sorted)

    def findings(self, **options: Any) -> tuple[Finding, ...]:
        named = {"enforce_sorted": self.enforce_sorted, **self.options, **options}
        if self.module is None:
            return examine(self.x, self.lengths, **{"batch_first": self.batch_first, **named})
        return examine(self.module, self.x, self.lengths, **named)

    def keys(self, **options: Any) -> list[str]:
        return [finding.key for finding in self.findings(**options)]

    def laid_out(self, grid: Tensor) -> "Sound":
        return replace(self, x=grid if self.batch_first else grid.transpose(0, 1))


def sound(seed: int, *, module: bool | None = None, source: str | None = None, **fixed: Any) -> Sound:
    draw = random.Random(seed)
    torch.manual_seed(seed)
    dtype = draw.choice((torch.float32, torch.float64))
    B, T = fixed.get("B", draw.choice((1, 1, 2, 3, 4, 5, 8, 17, 20))), fixed.get("T", draw.randint(1, 9))
    F = fixed.get("F", draw.choice((1, 2, 3, 4, 8, 16)))
    with_module = draw.random() < 0.4 if module is None else module
    source = source or draw.choice(SOURCES[:3] + SOURCES[6:] if with_module else SOURCES)
    enforce_sorted, batch_first = draw.random() < 0.4, draw.random() < 0.5
    lengths = fixed.get("lengths") or random_lengths(draw, B, T)
    if enforce_sorted:
        lengths = sorted(lengths, reverse=True)
    B = len(lengths)
    sequences = [drawn(draw, source, length, F, dtype) for length in lengths]
    pad = fixed.get("pad", draw.choice((0.0, 0.0, 0.0, -1.0, -100.0)))
    grid = pad_sequence(sequences, batch_first=True, padding_value=pad)
    if draw.random() < 0.2:  # columns that no length reaches
        extra = torch.full((B, 2, *grid.shape[2:]), pad, dtype=grid.dtype)
        grid = torch.cat([grid, extra], 1)
    case = Sound(sequences, grid if batch_first else grid.transpose(0, 1), lengths, batch_first, enforce_sorted, pad)
    if not with_module:
        return case
    own = random_module(draw, F, dtype)
    own.batch_first = batch_first
    options = {"hx": random_state(own, B, dtype)} if draw.random() < 0.5 else {}
    return replace(case, module=own, options=options)


def drawn(draw: random.Random, source: str, length: int, F: int, dtype: torch.dtype) -> Tensor:
    """Return a sequence (length,) or (length, F) that neither begins nor ends with a step of zeros.

    Zeros may be in it, and whole steps of zeros where F is small.
    """
    if source.startswith("ids"):
        values = torch.randint(0 if source.endswith("0") else 1, draw.choice((6, 30, 500)), (length,))
    elif source == "whole numbers":
        values = torch.randint(-3, 4, (length, F)).to(dtype)
    else:
        values = torch.randn(length, F, dtype=dtype)
    if source == "relu":
        values = values.relu()
    if source == "dropout":
        values = nn.functional.dropout(values, draw.choice((0.1, 0.5)))
    if source == "zeros inside":
        values[torch.rand(length) < 0.3] = 0
    for end in (0, -1):
        if not values[end].any():
            values[end] = 1
    return values


def repaired(finding: Finding, **names: Any) -> dict[str, Any]:
    """Run a repair over the names it uses, and return what they are afterwards."""
    exec(compile(finding.repair, finding.key, "exec"), names)
    return names


def found(findings: tuple[Finding, ...], key: str) -> Finding:
    (one,) = [finding for finding in findings if finding.key == key]
    return one


def saved(value: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    torch.save(value, stream, **options)
    return stream.getvalue()


def npy(array: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def objects(*items: Any) -> Any:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def npz(compressed: bool = False, **arrays: Any) -> bytes:
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream.getvalue()
