"""What padding and packing cost by count, without a clock: cell updates, steps, bytes; and batches that waste less."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from packviz.compute.record import Trace
from packviz.inputs.module import directions, state_size
from packviz.lab.cost.lengths import check_lengths
from packviz.text import Brief
from packviz.validate import integer

__all__ = ["Amount", "Batching", "Counts", "counts_of", "ways"]

POOL = 10  # batches whose sequences are sorted among themselves: a bucket


@dataclass(frozen=True)
class Amount:
    """Hold one count on both sides."""

    padded: int
    packed: int


@dataclass(frozen=True)
class Counts:
    """Hold what a batch costs by count, padded and packed."""

    updates: Amount  # cell updates, in all layers and directions: B·T·L·D and N·L·D
    steps: Amount  # sequential steps in each layer and direction: the width of the grid, the longest length
    inputs: Amount  # bytes of the padded (B, T, F) and of the packed data (N, F)
    outputs: Amount  # bytes of the top layer's output, (B, T, D*H) and (N, D*H)
    indices: int  # bytes of batch_sizes, sorted_indices and unsorted_indices, which only the packed side has

    @property
    def spared(self) -> int:
        """Return the cell updates that packing saves."""
        return self.updates.padded - self.updates.packed

    @property
    def both_inputs(self) -> int:
        """Return the bytes while packing: it copies, so the padded and the packed input exist at once."""
        return self.inputs.padded + self.inputs.packed + self.indices


def counts_of(trace: Trace) -> Counts:
    """Count what the batch of a trace costs in its own module; the grid may be wider than its longest sequence."""
    module, padded, D = trace.module, trace.padded, directions(trace.module)
    (B, T), N, longest = padded.mask.shape, int(padded.lengths.sum()), int(padded.lengths.max())

    def both(factor: int) -> Amount:
        return Amount(B * T * factor, N * factor)

    return Counts(
        updates=both(module.num_layers * D),
        steps=Amount(T, longest),
        inputs=both(padded.values.size(2) * padded.values.itemsize),
        outputs=both(D * state_size(module) * padded.values.itemsize),
        indices=(longest + 2 * B) * torch.int64.itemsize,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Batching(Brief):
    """Hold how a data set is cut into batches."""

    name: str  # "random", "sorted", "buckets" or "token budget"
    lengths: Tensor  # (any number,) int64, of the whole data set
    batches: tuple[Tensor, ...]  # the indices into lengths, (B,) int64 for each batch: each index once

    @property
    def cells(self) -> tuple[int, ...]:
        """Return B·T of each batch, padded to its own longest sequence."""
        return tuple(len(batch) * int(self.lengths[batch].max()) for batch in self.batches)

    @property
    def share(self) -> float:
        """Return the share of all cells that is padding: 0.0 to 1.0."""
        return (sum(self.cells) - int(self.lengths.sum())) / sum(self.cells)


def ways(lengths: Tensor | Sequence[int], batch_size: int = 32, seed: int = 0) -> tuple[Batching, ...]:
    """Cut one data set into batches in four ways; the last batch of a cut may be smaller, as in a DataLoader.

    random        shuffled, then cut
    sorted        sorted by length, then cut
    buckets       shuffled and cut into buckets of ten batches; each bucket is sorted, then cut: most of the randomness
                  of the shuffle stays
    token budget  sorted; each batch takes sequences while B·T stays within the cells of `batch_size` sequences of mean
                  length, or within the longest length where that is more: many short sequences, or few long ones

    Sorted batches come in random order. Raises PackvizError for lengths and sizes below 1.
    """
    known = torch.tensor(check_lengths(lengths), dtype=torch.int64, device="cpu")
    integer("batch_size", batch_size, 1, fix="choose 1 or more")
    generator = torch.Generator("cpu").manual_seed(seed)
    shuffled, by_length = _shuffled(len(known), generator), known.argsort(stable=True)
    pools = torch.split(shuffled, POOL * batch_size)
    cuts = {
        "sorted": torch.split(by_length, batch_size),
        "buckets": torch.split(torch.cat([pool[known[pool].argsort(stable=True)] for pool in pools]), batch_size),
        "token budget": torch.split(by_length, _budgeted(known[by_length].tolist(), batch_size)),
    }
    in_random_order = ((name, [cut[i] for i in _shuffled(len(cut), generator)]) for name, cut in cuts.items())
    every = [("random", torch.split(shuffled, batch_size)), *in_random_order]
    return tuple(Batching(name, known, tuple(cut)) for name, cut in every)


def _budgeted(lengths: Sequence[int], batch_size: int) -> list[int]:
    """Return the sizes of the batches that fit into the budget; lengths in increasing order."""
    budget = max(lengths[-1], round(batch_size * sum(lengths) / len(lengths)))
    sizes = [0]
    for length in lengths:
        if (sizes[-1] + 1) * length > budget:
            sizes.append(0)
        sizes[-1] += 1
    return sizes


def _shuffled(count: int, generator: Generator) -> Tensor:
    return torch.randperm(count, generator=generator, device="cpu")
