"""How to waste less without packing: which sequences share a batch, and how much of the batches is padding then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch
from torch import Generator, Tensor

from packviz.errors import PackvizError
from packviz.lab.cost.lengths import check_lengths
from packviz.text import shown
from packviz.validate import integer

__all__ = ["Batching", "How", "batches", "default_budget", "token_budget", "ways"]

How = Literal["random", "sorted", "buckets"]

POOL = 10  # batches whose sequences are sorted among themselves: a bucket


@dataclass(frozen=True, eq=False)
class Batching:
    """Hold how a data set is cut into batches.

    name      "random", "sorted", "buckets" or "token budget"
    lengths   (any number,) int64, of the whole data set
    batches   the indices into lengths, (B,) int64 for each batch: each index once
    """

    name: str
    lengths: Tensor
    batches: tuple[Tensor, ...]

    @cached_property
    def cells(self) -> int:
        """Return the cells of all batches, each padded to its own longest sequence."""
        return sum(self.cells_of_batches)

    @property
    def cells_of_batches(self) -> tuple[int, ...]:
        """Return B·T of each batch."""
        return tuple(len(batch) * int(self.lengths[batch].max()) for batch in self.batches)

    @property
    def pads(self) -> int:
        """Return how many of the cells are padding."""
        return self.cells - int(self.lengths.sum())

    @property
    def share(self) -> float:
        """Return which share of all cells is padding: 0.0 to 1.0."""
        return self.pads / self.cells


def batches(lengths: Tensor | Sequence[int], batch_size: int, how: How = "random", seed: int = 0) -> Batching:
    """Cut a data set into batches of one size; the last one of a cut may be smaller, as in a DataLoader.

    random    shuffled, then cut
    sorted    sorted by length, then cut; the batches come in random order
    buckets   shuffled and cut into buckets of ten batches; each bucket is sorted, then cut; the batches come in random
              order. Most of the randomness of the shuffle stays

    Raises PackvizError for what is no length, no size and no such way.
    """
    known = torch.tensor(check_lengths(lengths), dtype=torch.int64, device="cpu")
    integer("batch_size", batch_size, 1, mend="choose 1 or more")
    cuts: dict[str, Callable[[Tensor, int, Generator], tuple[Tensor, ...]]] = {
        "random": _random,
        "sorted": _sorted,
        "buckets": _buckets,
    }
    if how not in cuts:
        raise PackvizError("how", expected="random, sorted or buckets", came=shown(how), mend="choose one of these")
    return Batching(how, known, cuts[how](known, batch_size, _generator(seed)))


def token_budget(lengths: Tensor | Sequence[int], budget: int, seed: int = 0) -> Batching:
    """Cut a data set into batches of at most `budget` cells, padding and all: many short sequences, or few long ones.

    Sorted by length, each batch takes sequences as long as B·T stays within the budget; the batches come in random
    order. Raises PackvizError for a budget that the longest sequence alone exceeds.
    """
    known = torch.tensor(check_lengths(lengths), dtype=torch.int64, device="cpu")
    integer("budget", budget, 1, mend="choose 1 or more")
    if (longest := int(known.max())) > budget:
        mend = f"choose {longest:,} or more, or cut the longest sequences"
        expected = f"at least {longest:,} cells, for the longest sequence alone"
        raise PackvizError("budget", expected=expected, came=f"{budget:,}", mend=mend)
    order = known.argsort(stable=True)
    sizes, size = [], 0
    for length in known[order].tolist():
        if (size + 1) * length > budget:
            sizes.append(size)
            size = 0
        size += 1
    cut = torch.split(order, [*sizes, size])
    return Batching("token budget", known, _shuffled(cut, _generator(seed)))


def ways(
    lengths: Tensor | Sequence[int], batch_size: int = 32, budget: int | None = None, seed: int = 0
) -> tuple[Batching, ...]:
    """Cut one data set in all four ways: random, sorted, buckets, and token budget.

    budget: ``default_budget`` unless one is given. Raises PackvizError as ``batches`` and ``token_budget`` do.
    """
    known = torch.tensor(check_lengths(lengths), dtype=torch.int64, device="cpu")
    kinds: tuple[How, ...] = ("random", "sorted", "buckets")
    own = default_budget(known, batch_size) if budget is None else budget
    return (*(batches(known, batch_size, how, seed) for how in kinds), token_budget(known, own, seed))


def default_budget(lengths: Tensor | Sequence[int], batch_size: int = 32) -> int:
    """Return the cells of `batch_size` sequences of mean length, or the longest length where that is more."""
    known = check_lengths(lengths)
    integer("batch_size", batch_size, 1, mend="choose 1 or more")
    return max(max(known), round(batch_size * sum(known) / len(known)))


def _random(lengths: Tensor, batch_size: int, generator: Generator) -> tuple[Tensor, ...]:
    order = torch.randperm(len(lengths), generator=generator, device="cpu")
    return torch.split(order, batch_size)


def _sorted(lengths: Tensor, batch_size: int, generator: Generator) -> tuple[Tensor, ...]:
    return _shuffled(torch.split(lengths.argsort(stable=True), batch_size), generator)


def _buckets(lengths: Tensor, batch_size: int, generator: Generator) -> tuple[Tensor, ...]:
    pools = _random(lengths, POOL * batch_size, generator)
    cut = [part for pool in pools for part in torch.split(pool[lengths[pool].argsort(stable=True)], batch_size)]
    return _shuffled(cut, generator)


def _shuffled(cut: Sequence[Tensor], generator: Generator) -> tuple[Tensor, ...]:
    return tuple(cut[i] for i in torch.randperm(len(cut), generator=generator, device="cpu").tolist())


def _generator(seed: int) -> Generator:
    return torch.Generator("cpu").manual_seed(seed)
