"""How well rows are filled: each strategy with rows of several lengths."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from packviz.compute.fill import fill_rows
from packviz.inputs.row_config import STRATEGIES, Strategy
from packviz.lab.cost.counting import check_lengths
from packviz.validate import integer

__all__ = ["MAX_FILL_LENGTHS", "Fill", "fills_of"]

MAX_FILL_LENGTHS = 2_000  # filled in all ways in less than half a second
_HALF_DOUBLINGS = range(-1, 7)  # of the longest length: rows from 0.7 to 8 times as long


@dataclass(frozen=True)
class Fill:
    """What a strategy makes of all lengths with rows of max_length cells.

    rows: how many there are. tokens: in them. dropped: tokens that are in none.
    """

    strategy: Strategy
    max_length: int
    rows: int
    tokens: int
    dropped: int

    @property
    def share(self) -> float:
        """Return the share of the cells that hold a token: above 0.0, up to 1.0."""
        return self.tokens / (self.rows * self.max_length)

    @property
    def lost(self) -> float:
        """Return the share of the tokens that are dropped: 0.0 to 1.0."""
        return self.dropped / (self.tokens + self.dropped)


def fills_of(lengths: Tensor | Sequence[int], max_lengths: Sequence[int] | None = None) -> tuple[Fill, ...]:
    """Fill rows of each max_length by each strategy; None: from 0.7 to 8 times the longest length.

    Raises PackvizError for invalid sizes, and for more than 2,000 lengths.
    """
    known = check_lengths(lengths).tolist()
    integer("lengths", len(known), 1, MAX_FILL_LENGTHS, what="a number of lengths", fix="take a random sample of them")
    if max_lengths is None:
        max_lengths = sorted({round(max(known) * 2 ** (half / 2)) for half in _HALF_DOUBLINGS})
    found = [(strategy, C, fill_rows(known, C, strategy)) for strategy in STRATEGIES for C in max_lengths]
    return tuple(Fill(strategy, C, len(rows.rows), rows.tokens, rows.tokens_dropped) for strategy, C, rows in found)
