"""What the questions ask of a trace, and the words in which they say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TypeVar

from packviz.compute.record import Trace
from packviz.text import joined, sequence_label

__all__ = ["MAX_FILMED", "MAX_TIMES", "MAX_TYPED", "Facts", "spread"]

MAX_TYPED = 8  # nobody types more numbers or letters than these for one answer
MAX_TIMES = 10  # but for batch_sizes, which are short to type
MAX_FILMED = 128  # time steps that a movie shows: its window is no wider
MAX_TRIED = 60  # places that are weighed to find the most telling one

Place = TypeVar("Place")


class Facts:
    """Hold the numbers of a trace as Python has them; those after the sort are there only where torch packed."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def lengths(self) -> list[int]:
        """The length of each sequence, as they came."""
        return self.trace.padded.lengths.tolist()

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letter of each sequence."""
        return tuple(sequence_label(b) for b in range(self.B))

    @property
    def B(self) -> int:
        """How many sequences there are."""
        return len(self.lengths)

    @property
    def columns(self) -> int:
        """How many time steps wide the padded grid is."""
        return self.trace.padded.mask.size(1)

    @cached_property
    def longest(self) -> int:
        """The longest length."""
        return max(self.lengths)

    @cached_property
    def shortest(self) -> int:
        """The shortest length."""
        return min(self.lengths)

    @cached_property
    def N(self) -> int:
        """How many tokens there are, and packed rows."""
        return sum(self.lengths)

    @property
    def packed(self) -> bool:
        """Whether torch packed the batch."""
        return self.trace.error is None

    @cached_property
    def batch_sizes(self) -> list[int]:
        """The live rows of each time step, as torch packed."""
        return self.trace.packed.batch_sizes.tolist()

    @cached_property
    def offsets(self) -> list[int]:
        """The first packed row of each time step."""
        return self.trace.packed.offsets.tolist()

    @cached_property
    def order(self) -> list[int]:
        """The sequence at each place of the sorted order."""
        return self.trace.sorted.order.tolist()

    @cached_property
    def rank(self) -> list[int]:
        """The place of each sequence in the sorted order."""
        return self.trace.sorted.rank.tolist()

    @cached_property
    def origins(self) -> list[tuple[int, int]]:
        """The sequence and the time step that each packed row came from."""
        packed = self.trace.packed
        return list(zip(packed.sequence.tolist(), packed.timestep.tolist(), strict=True))

    @cached_property
    def rows(self) -> dict[tuple[int, int], int]:
        """The packed row of each sequence and time step."""
        return {place: n for n, place in enumerate(self.origins)}

    @cached_property
    def runs(self) -> list[int]:
        """The sequence of each token, read sequence by sequence."""
        return [b for b in range(self.B) for _ in range(self.lengths[b])]

    @cached_property
    def sorted_runs(self) -> list[int]:
        """The sequence of each token, read sequence by sequence in the sorted order."""
        return [b for b in self.order for _ in range(self.lengths[b])]

    @property
    def filmed(self) -> int:
        """How many of the packed time steps a movie shows."""
        return min(self.longest, MAX_FILMED)

    def last_steps(self, d: int) -> dict[int, int]:
        """Return the time step at which the top layer, in the direction d, ends each sequence."""
        direction = self.trace.layers[-1][d]
        return {b: step.t for step in map(direction.step, range(direction.steps)) for b in step.ended}

    @property
    def two_ways(self) -> bool:
        """Whether the module runs in both directions."""
        return self.trace.module.bidirectional

    @property
    def cell(self) -> str:
        """The name of the cell: RNN, GRU or LSTM."""
        return self.trace.module.mode.split("_")[0]

    @cached_property
    def keeps_ties(self) -> bool:
        """Whether torch left sequences of equal length in the order in which they came."""
        pairs = zip(self.order, self.order[1:], strict=False)
        return all(a < b for a, b in pairs if self.lengths[a] == self.lengths[b])

    def tied(self, b: int) -> bool:
        """Whether another sequence is as long as b."""
        return self._how_often[self.lengths[b]] > 1

    @cached_property
    def _how_often(self) -> Counter[int]:
        return Counter(self.lengths)

    @cached_property
    def placed(self) -> frozenset[int]:
        """The sequences whose place in the sorted order follows from the lengths alone, or from the rule of ties."""
        return frozenset(b for b in range(self.B) if self.keeps_ties or not self.tied(b))

    def rule_of_ties(self, b: int) -> str:
        """Return the sentence that a question about the place of b needs, "" where b has a length of its own."""
        return " Among equal lengths the one that came first stays first." if self.tied(b) else ""

    def with_order(self) -> tuple[str, ...]:
        """Return the letters of all sequences in the sorted order."""
        return tuple(self.letters[b] for b in self.order)

    def with_letters(self, sequences: Collection[int]) -> tuple[str, ...]:
        """Return the letters of sequences, in the order in which they came."""
        return tuple(self.letters[b] for b in sorted(sequences))

    def those(self, chosen: Callable[[int], bool]) -> tuple[str, ...]:
        """Return the letters of the sequences that are chosen, in the order in which they came."""
        return tuple(self.letters[b] for b in range(self.B) if chosen(b))

    def have_length(self, length: int) -> str:
        """Return the sentence that says which sequences have a length."""
        named = self.those(lambda b: self.lengths[b] == length)
        if not named:
            return "No sequence has this length."
        return f"{joined(named)} {'has' if len(named) == 1 else 'have'} this length."


def spread(items: Sequence[Place]) -> Sequence[Place]:
    """Return at most MAX_TRIED of the items, from the first to the last."""
    return items[:: max(1, -(-len(items) // MAX_TRIED))]
