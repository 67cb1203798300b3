"""What the questions ask of a trace, as plain Python numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from packviz.compute.record import Trace
from packviz.compute.recurrence import Step
from packviz.text import sequence_label

__all__ = ["Facts", "spread"]

MAX_FILMED = 128  # time steps that a movie shows: its window is no wider
MAX_TRIED = 60  # places that are weighed to find the most telling one


class Facts:
    """Hold the numbers of a trace; those after the sort exist only where torch packed the batch.

    B, T      the sequences and the columns of the padded grid
    N         the sum of the lengths
    lengths   B numbers, in the order in which the sequences came
    packed    whether torch packed the batch
    two_ways  whether the module is bidirectional
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.B, self.T = trace.padded.mask.shape
        self.lengths: list[int] = trace.padded.lengths.tolist()
        self.letters = tuple(map(sequence_label, range(self.B)))
        self.longest, self.shortest, self.N = max(self.lengths), min(self.lengths), sum(self.lengths)
        self.sorted_lengths = sorted(self.lengths, reverse=True)
        self.packed, self.two_ways = trace.error is None, trace.module.bidirectional

    @property
    def names(self) -> dict[str, object]:
        """Return what every template may say."""
        names = ("B", "T", "N", "lengths", "letters", "longest", "shortest", "two_ways")
        return {
            **{name: getattr(self, name) for name in names},
            "cell": self.trace.module.mode.split("_")[0],
            "batch_first": self.trace.padded.batch_first,
            "embedded": self.trace.padded.embedding is not None,
            "pads_packed": self.packed and bool(self.trace.packed_is_pad.any()),
        }

    @property
    def sequences(self) -> range:
        """Return the sequences that torch packed."""
        return range(self.B) if self.packed else range(0)

    @property
    def timesteps(self) -> range:
        """Return the packed time steps that a movie shows."""
        return range(min(self.longest, MAX_FILMED)) if self.packed else range(0)

    @cached_property
    def batch_sizes(self) -> list[int]:
        """The live rows of each time step."""
        return self.trace.packed.batch_sizes.tolist()

    @cached_property
    def offsets(self) -> list[int]:
        """The first packed row of each time step."""
        return self.trace.packed.offsets.tolist()

    @cached_property
    def order(self) -> list[int]:
        """The sequence in each row of the sorted batch."""
        return self.trace.sorted.order.tolist()

    @cached_property
    def rank(self) -> list[int]:
        """The row of each sequence in the sorted batch."""
        return self.trace.sorted.rank.tolist()

    @cached_property
    def origins(self) -> list[tuple[int, int]]:
        """The sequence and the time step that each packed row came from."""
        packed = self.trace.packed
        return list(zip(packed.sequence.tolist(), packed.timestep.tolist(), strict=True))

    @cached_property
    def by_sequence(self) -> list[int]:
        """The sequence of each token, read sequence by sequence."""
        return [b for b in range(self.B) for _ in range(self.lengths[b])]

    @cached_property
    def by_sorted_sequence(self) -> list[int]:
        """The sequence of each token, read sequence by sequence in the sorted order."""
        return [b for b in self.order for _ in range(self.lengths[b])]

    @cached_property
    def tied(self) -> list[bool]:
        """Whether another sequence is as long, for each."""
        how_often = Counter(self.lengths)
        return [how_often[length] > 1 for length in self.lengths]

    @cached_property
    def placed(self) -> list[int]:
        """The sequences whose sorted row follows from the lengths, or from the rule that ties keep their order."""
        pairs = zip(self.order, self.order[1:], strict=False) if self.packed else ()
        stable = all(a < b for a, b in pairs if self.lengths[a] == self.lengths[b])
        return [b for b in self.sequences if stable or not self.tied[b]]

    @cached_property
    def placed_rows(self) -> list[int]:
        """The packed rows of these sequences that a movie shows."""
        placed = set(self.placed)
        return [n for n, (b, t) in enumerate(self.origins) if b in placed and t in self.timesteps] if placed else []

    def step(self, t: int, direction: int) -> Step:
        """Return the step of the top layer at time step t."""
        return self.trace.layers[-1][direction].step(self.longest - 1 - t if direction else t)

    def where(self, lengths: range) -> list[int]:
        """Return the sequences whose length is in a range."""
        return [b for b, length in enumerate(self.lengths) if length in lengths]


def spread(places: Sequence[Any]) -> Sequence[Any]:
    """Return at most MAX_TRIED of the places, from the first to the last."""
    return places[:: max(1, -(-len(places) // MAX_TRIED))]
