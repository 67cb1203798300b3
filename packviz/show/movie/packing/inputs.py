"""What stands in the cells of the padded grid, and how the grid was made."""

import numpy as np

from packviz.compute.record import Refusal
from packviz.show.movie.once import once
from packviz.show.movie.packing.recurrent import MAX_UNITS
from packviz.show.movie.packing.view import View
from packviz.show.movie.written import number

MAX_FEATURES = 12  # of a token


def refused(view: View) -> bool:
    """Return whether torch refused to pack the batch."""
    return isinstance(view.trace, Refusal)


def refusal(view: View) -> str:
    """Return torch's message if it refused to pack, else nothing."""
    return view.trace.error if isinstance(view.trace, Refusal) else ""


def enforce_sorted(view: View) -> bool:
    """Return whether the order is only checked, not made."""
    return refused(view) or view.trace.sorted.sorted_indices is None


def batch_first(view: View) -> bool:
    """Return whether x is (B, T, F), not (T, B, F)."""
    return bool(view.trace.padded.batch_first)


def line(view: View) -> str:
    """Return what a sequence is in x: a row, or a column."""
    return "row" if batch_first(view) else "column"


def time_line(view: View) -> str:
    """Return what a time step is in x: a column, or a row."""
    return "column" if batch_first(view) else "row"


def padding_side(view: View) -> str:
    """Return left or right."""
    return view.trace.config.padding_side if view.trace.config else "right"


def embedded(view: View) -> bool:
    """Return whether the ids go through an embedding."""
    return view.trace.padded.embedding is not None


def features(view: View) -> int:
    """Return F, how many numbers enter the first layer at a time step."""
    return int(view.trace.padded.values.shape[-1])


def features_shown(view: View) -> int:
    """Return how many of them are shown."""
    return min(features(view), MAX_UNITS // 2 if view.small else MAX_FEATURES)


def one_number(view: View) -> bool:
    """Return whether a token is one number, which needs an axis of one feature."""
    return not embedded(view) and view.trace.padded.tokens.dim() == 2


def raw_vectors(view: View) -> bool:
    """Return whether tokens are vectors that nothing looked up."""
    return features(view) > 1 and not embedded(view)


def pad_id(view: View) -> float:
    """Return the number that fills the grid before the embedding."""
    config = view.trace.config
    return (config.pad_id if config else 0) if embedded(view) else view.trace.padding_value


@once
def pad_text(view: View) -> str:
    """Return the text of the pads; `…` if a user's own grid holds different numbers there."""
    if view.trace.batch:
        return number(pad_id(view))
    pads = view.trace.padded.grid[~view.trace.padded.mask].flatten()
    return number(float(pads[0])) if len(pads) and bool((pads == pads[0]).all()) else "…"


def count(view: View) -> int:
    """Return N, the number of tokens."""
    return sum(view.lengths)


def pads(view: View) -> int:
    """Return the number of pads."""
    return view.mask.size - count(view)


@once
def leads(view: View) -> np.ndarray:
    """Return (B,): how many pads precede each sequence."""
    return leading(view.total[1], view.lengths, padding_side(view))


def leading(columns: int, lengths: list[int], side: str) -> np.ndarray:
    """Return (B,): how many pads precede each sequence."""
    return (columns - np.array(lengths)) * (side == "left")


def first_longer(view: View) -> int:
    """Return the first sequence that is longer than the one before it, for which torch refused; else 0."""
    pairs = zip(view.lengths, view.lengths[1:], strict=False)
    return next(b for b, (before, own) in enumerate(pairs, 1) if own > before) if refused(view) else 0
