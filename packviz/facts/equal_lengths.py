"""Equal lengths: the order in which torch puts them, which is not always the order in which they came."""

from dataclasses import dataclass
from functools import cache

import torch
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.record import Trace
from packviz.validate import integer

__all__ = ["Tie", "first_unstable", "order_of_equals", "ties"]


@dataclass(frozen=True)
class Tie:
    """Hold the sequences of one length, at least two, in the order in which torch packed them."""

    length: int
    sequences: tuple[int, ...]

    @property
    def as_they_came(self) -> bool:
        """Return whether they kept the order in which they came."""
        return list(self.sequences) == sorted(self.sequences)


@cache
def order_of_equals(n: int) -> tuple[int, ...]:
    """Return torch's own sorted_indices for n sequences of equal length; raises PackvizError for n below 1."""
    n = integer("n", n, 1, fix="ask for the order of at least one sequence")
    lengths = torch.ones(n, dtype=torch.int64, device="cpu")
    packed = pack_padded_sequence(torch.zeros(1, n, 1, device="cpu"), lengths, enforce_sorted=False)
    assert packed.sorted_indices is not None  # it is None with enforce_sorted=True alone
    return tuple(packed.sorted_indices.tolist())


@cache
def first_unstable(most: int = 64) -> int | None:
    """Return the smallest n up to `most` whose equal lengths torch does not leave as they came; None without one."""
    return next((n for n in range(1, most + 1) if order_of_equals(n) != tuple(range(n))), None)


def ties(trace: Trace) -> tuple[Tie, ...]:
    """Return every length that at least two sequences of the batch have, the longest first."""
    order, lengths = trace.sorted.order.tolist(), trace.sorted.lengths.tolist()
    groups: dict[int, list[int]] = {}
    for b, length in zip(order, lengths, strict=True):
        groups.setdefault(length, []).append(b)
    return tuple(Tie(length, tuple(group)) for length, group in groups.items() if len(group) > 1)
