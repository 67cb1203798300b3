"""What padding and packing cost by count: cell updates, sequential steps, bytes. Exact, and no milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from packviz.compute.record import Trace
from packviz.errors import PackvizError
from packviz.inputs.module import directions, state_size
from packviz.lab.cost.lengths import check_lengths
from packviz.validate import integer

__all__ = ["Amount", "Counts", "counts", "counts_of"]


@dataclass(frozen=True)
class Amount:
    """Hold one count on both sides."""

    padded: int
    packed: int

    @property
    def ratio(self) -> float:
        """Return packed ÷ padded."""
        return self.packed / self.padded


@dataclass(frozen=True)
class Counts:
    """Hold what a batch costs by count, padded and packed.

    updates   cell updates, in all layers and directions: B·T·L·D and N·L·D
    steps     time steps that wait for one another, in each layer and direction: the width of the grid, the longest
    inputs    bytes of the padded (B, T, F) and of the packed data (N, F)
    outputs   bytes of the top layer's output, (B, T, D*H) and (N, D*H)
    indices   bytes of batch_sizes, sorted_indices and unsorted_indices, which only the packed side has
    """

    updates: Amount
    steps: Amount
    inputs: Amount
    outputs: Amount
    indices: int

    @property
    def fill(self) -> float:
        """Return which share of the padded grid is no padding: 0.0 to 1.0."""
        return self.updates.ratio

    @property
    def spared(self) -> int:
        """Return the cell updates that packing does not make."""
        return self.updates.padded - self.updates.packed

    @property
    def both_inputs(self) -> int:
        """Return the bytes while packing: it copies, so the padded and the packed input are there at once."""
        return self.inputs.padded + self.inputs.packed + self.indices


def counts(
    lengths: Tensor | Sequence[int],
    features: int = 1,
    hidden_size: int = 1,
    *,
    num_layers: int = 1,
    bidirectional: bool = False,
    dtype: torch.dtype = torch.float32,
    width: int | None = None,
) -> Counts:
    """Count what lengths (B,) cost with F features and H hidden units.

    width: T of the padded grid, the longest length unless it is wider. Raises PackvizError for lengths below 1, for
    sizes below 1, and for a grid that is too narrow.
    """
    known = check_lengths(lengths)
    for name, value in (("features", features), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        integer(name, value, 1, mend="choose 1 or more")
    B, N, longest = len(known), sum(known), max(known)
    T = longest if width is None else width
    if longest > T:
        mend = "leave width out, or give at least the longest length"
        raise PackvizError("width", expected=f"at least {longest}, the longest length", came=str(T), mend=mend)
    ways = 2 if bidirectional else 1
    cells = num_layers * ways
    return Counts(
        updates=Amount(B * T * cells, N * cells),
        steps=Amount(T, longest),
        inputs=Amount(_nbytes((B, T, features), dtype), _nbytes((N, features), dtype)),
        outputs=Amount(_nbytes((B, T, ways * hidden_size), dtype), _nbytes((N, ways * hidden_size), dtype)),
        indices=_nbytes((longest,), torch.int64) + 2 * _nbytes((B,), torch.int64),
    )


def counts_of(trace: Trace) -> Counts:
    """Count what the batch of a trace costs in its own module; the grid may be wider than its longest sequence."""
    module, padded = trace.module, trace.padded
    return counts(
        padded.lengths,
        padded.values.size(2),
        state_size(module),
        num_layers=module.num_layers,
        bidirectional=directions(module) == 2,
        dtype=padded.values.dtype,
        width=padded.mask.size(1),
    )


def _nbytes(shape: tuple[int, ...], dtype: torch.dtype) -> int:
    """Ask torch how large a tensor would be; none is made."""
    size: int = torch.empty(shape, dtype=dtype, device="meta").nbytes
    return size
