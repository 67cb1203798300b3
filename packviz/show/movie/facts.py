"""What a movie needs to know of a trace: who is shown, in which order, and which rows are alive when."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from torch import nn

from packviz.compute.record import Trace
from packviz.compute.recurrence import Direction
from packviz.inputs.cell_kinds import kind_of
from packviz.validate import integer

__all__ = ["MAX_SEQUENCES", "MAX_TIME_STEPS", "Facts", "watched_layer"]

MAX_SEQUENCES = 128
MAX_TIME_STEPS = 128


def watched_layer(trace: Trace, layer: int | None, direction: int) -> int:
    """Return the layer to watch, the top one if none is given; raises PackvizError for what is not there."""
    chosen = len(trace.layers) - 1 if layer is None else layer
    for name, value, count in (("layer", chosen, len(trace.layers)), ("direction", direction, len(trace.layers[0]))):
        integer(name, value, 0, count - 1, mend=f"watch a {name} that is there")
    return chosen


@dataclass(frozen=True)
class Facts:
    """A trace as the movie looks at it.

    layer, direction: which of them the stage `run` watches (direction 1 is backward).
    """

    trace: Trace
    layer: int
    direction: int

    @property
    def module(self) -> nn.RNNBase:
        """torch's own module of this trace."""
        return self.trace.module

    @property
    def cell(self) -> str:
        """`rnn`, `gru` or `lstm`."""
        return {"RNN_TANH": "rnn", "RNN_RELU": "rnn"}.get(self.module.mode, self.module.mode.lower())

    @property
    def gates(self) -> str:
        """The letters of the cell's gates, in torch's order."""
        return "".join(kind_of(self.module).gates)

    @property
    def refused(self) -> bool:
        """Whether torch refused to pack."""
        return self.trace.error is not None

    @property
    def batch_first(self) -> bool:
        """Whether x is (B,T,F)."""
        return self.trace.padded.batch_first

    @property
    def enforce_sorted(self) -> bool:
        """Whether torch was told to check the order of the lengths instead of sorting."""
        return self.refused or self.trace.sorted.sorted_indices is None

    @property
    def padding_side(self) -> str:
        """`right` or `left`."""
        return self.trace.config.padding_side if self.trace.config else "right"

    @property
    def initial_state(self) -> str:
        """`zeros`, `random`, `learned`, or `given` by the caller."""
        if self.trace.config:
            return self.trace.config.initial_state
        given = (state for state in (self.trace.h_0, self.trace.c_0) if state is not None)
        return "given" if any(bool(state.any()) for state in given) else "zeros"

    @cached_property
    def lengths(self) -> list[int]:
        """(B,) the lengths, in the original order."""
        return self.trace.padded.lengths.tolist()

    @cached_property
    def total(self) -> tuple[int, int]:
        """B and T of the padded grid."""
        rows, columns = self.trace.padded.mask.shape
        return rows, columns

    @property
    def tokens(self) -> int:
        """N, the sum of the lengths."""
        return sum(self.lengths)

    @cached_property
    def features(self) -> int:
        """F, the features that enter the cell."""
        return self.trace.padded.values.shape[-1]

    @cached_property
    def order(self) -> list[int]:
        """(B,) the original sequence in each sorted row; as typed, where torch refused to sort."""
        return list(range(self.total[0])) if self.refused else self.trace.sorted.order.tolist()

    @cached_property
    def by_rank(self) -> list[int]:
        """The sequences that are shown, in sorted order: the first rows of the packed batch."""
        return self.order[:MAX_SEQUENCES]

    @cached_property
    def shown(self) -> list[int]:
        """The sequences that are shown, in original order."""
        return sorted(self.by_rank)

    @cached_property
    def rank(self) -> dict[int, int]:
        """The sorted row of each sequence that is shown."""
        return {b: rank for rank, b in enumerate(self.by_rank)}

    @cached_property
    def place(self) -> dict[int, int]:
        """The row of each sequence that is shown, in original order."""
        return {b: row for row, b in enumerate(self.shown)}

    @cached_property
    def columns(self) -> int:
        """The time steps that are shown."""
        return min(self.total[1], MAX_TIME_STEPS)

    @cached_property
    def mask(self) -> list[list[bool]]:
        """(B,T) True where a token stands."""
        return self.trace.padded.mask.tolist()

    @cached_property
    def positions(self) -> list[tuple[int, int]]:
        """(b, t) of every token that is shown; its place in this list is the number of the token."""
        return [(b, t) for b in self.shown for t in range(self.columns) if self.mask[b][t]]

    @cached_property
    def token_number(self) -> dict[tuple[int, int], int]:
        """The number of each token that is shown."""
        return {position: k for k, position in enumerate(self.positions)}

    @cached_property
    def batch_sizes(self) -> list[int]:
        """(T,) torch's batch_sizes."""
        return self.trace.packed.batch_sizes.tolist()

    @cached_property
    def offsets(self) -> list[int]:
        """(T,) the packed row at which each time step begins."""
        return self.trace.packed.offsets.tolist()

    @cached_property
    def alive(self) -> list[list[int]]:
        """The shown sequences that have a packed row at each shown time step, in the order of their rows."""
        return [self.by_rank[:size] for size in self.batch_sizes[: self.columns]]

    @cached_property
    def watched(self) -> Direction:
        """The layer and direction that the stage `run` watches."""
        return self.trace.layers[self.layer][self.direction]

    @property
    def directions(self) -> int:
        """D, 1 or 2."""
        return len(self.trace.layers[0])

    @property
    def last_layer(self) -> bool:
        """Whether the watched states are the whole output."""
        return self.layer == len(self.trace.layers) - 1 and len(self.trace.layers[0]) == 1

    @property
    def embedded(self) -> bool:
        """Whether ids are turned into vectors."""
        return self.trace.padded.embedding is not None

    @property
    def one_number(self) -> bool:
        """Whether a token is a bare number, which needs an axis of one feature to enter a cell."""
        return not self.embedded and self.trace.padded.tokens.dim() == 2

    @cached_property
    def raw_vectors(self) -> bool:
        """Whether tokens are vectors from the beginning."""
        return self.features > 1 and not self.embedded

    @cached_property
    def packed_pads(self) -> dict[int, int]:
        """How many pads were packed for each sequence that has any; as many of its tokens were lost."""
        return Counter(self.trace.packed.sequence[self.trace.packed_is_pad].tolist())

    @property
    def pads_out(self) -> int:
        """How many places of the unpacked output are filler."""
        width = self.trace.unpacked.output.shape[1 if self.batch_first else 0]
        return sum(width - length for length in self.lengths)

    def packed_row(self, b: int, t: int) -> int:
        """Return n, the packed row of a sequence at a time step."""
        return self.offsets[t] + self.rank[b]

    @property
    def pad_id(self) -> float:
        """What stands in the padding of what was typed."""
        if not self.embedded:
            return self.trace.padding_value
        config = self.trace.config
        return config.pad_id if config else 0

    def lead(self, b: int) -> int:
        """Return how many time steps of padding stand before a sequence."""
        return self.total[1] - self.lengths[b] if self.padding_side == "left" else 0
