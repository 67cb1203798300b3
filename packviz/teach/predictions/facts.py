"""What the questions ask of a trace, as plain Python numbers."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from packviz.compute.record import Trace
from packviz.compute.recurrence import Step
from packviz.text import sequence_label

MAX_FILMED = 128  # time steps that a movie shows: its window is no wider
MAX_TRIED = 60  # places that are weighed to find the most telling one


class Facts:
    """Hold the numbers of a trace; those after the sort are empty where torch refused to pack.

    packed, two_ways      whether torch packed the batch, and whether the module is bidirectional
    B, T, N               the sequences and the columns of the padded grid, and the sum of the lengths
    lengths               B numbers, in the order in which the sequences came
    sequences, timesteps  the sequences that torch packed, and the packed time steps that a movie shows
    order, rank           the sequence in each row of the sorted batch, and the row of each sequence
    tied                  for each sequence, whether another is as long
    ranked                by kind and places, the questions about this trace in order, once one has been asked
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.packed, self.two_ways = trace.error is None, trace.module.bidirectional
        self.B, self.T = trace.padded.mask.shape
        self.lengths: list[int] = trace.padded.lengths.tolist()
        self.letters = tuple(map(sequence_label, range(self.B)))
        self.longest, self.shortest, self.N = max(self.lengths), min(self.lengths), sum(self.lengths)
        self.sorted_lengths = sorted(self.lengths, reverse=True)
        self.sequences = range(self.B if self.packed else 0)
        self.timesteps = range(min(self.longest, MAX_FILMED) if self.packed else 0)
        self.batch_sizes: list[int] = trace.packed.batch_sizes.tolist() if self.packed else []
        self.offsets: list[int] = trace.packed.offsets.tolist() if self.packed else []
        self.order: list[int] = trace.sorted.order.tolist() if self.packed else []
        self.rank: list[int] = trace.sorted.rank.tolist() if self.packed else []
        how_often = Counter(self.lengths)
        self.tied = [how_often[length] > 1 for length in self.lengths]
        self.ranked: dict[object, list[Any]] = {}

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
    def placed(self) -> list[int]:
        """The sequences whose sorted row follows from the lengths, or from the rule that ties keep their order."""
        pairs = zip(self.order, self.order[1:], strict=False)
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
