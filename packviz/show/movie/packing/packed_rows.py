"""The packed rows: which of them are shown, and where each came from. Empty if torch refused to pack."""

from collections import Counter

import numpy as np

from packviz.show.movie.once import once
from packviz.show.movie.packing.view import NOBODY, View


@once
def offsets(view: View) -> list[int]:
    """Return (T,): the packed row at which each time step begins."""
    return view.trace.packed.offsets.tolist() if view.batch_sizes else []


@once
def within(view: View) -> np.ndarray:
    """Return where in each time step the rows of the sequences shown are, in sorted order: some may not be shown."""
    found: np.ndarray = view.trace.sorted.rank.numpy()[view.ranked]
    return found


def _entered(view: View, t: int) -> np.ndarray:
    return within(view)[within(view) < view.batch_sizes[t]]


@once
def live(view: View) -> list[list[int]]:
    """Return the sequences shown that have a row at each time step shown."""
    steps = range(min(len(view.batch_sizes), view.columns))
    return [view.ranked[: len(_entered(view, t))].tolist() for t in steps]


@once
def live_sizes(view: View) -> np.ndarray:
    """Return how many they are."""
    return np.array([len(rows) for rows in live(view)], dtype=int)


@once
def sequence(view: View) -> np.ndarray:
    """Return the sequence of each packed row shown."""
    return np.array([b for rows in live(view) for b in rows], dtype=int)


@once
def time_step(view: View) -> np.ndarray:
    """Return the time step of each packed row shown."""
    return np.repeat(np.arange(len(live_sizes(view))), live_sizes(view))


@once
def number(view: View) -> np.ndarray:
    """Return the number of each packed row shown."""
    rows = [offsets(view)[t] + _entered(view, t) for t in range(len(live(view)))]
    return np.concatenate([np.zeros(0, int), *rows])


@once
def row_at(view: View) -> np.ndarray:
    """Return (B, T): the packed row of each sequence at each time step, or -1."""
    rows = np.full(view.total, NOBODY)
    rows[sequence(view), time_step(view)] = number(view)
    return rows


@once
def taken_n(view: View) -> np.ndarray:
    """Return the rows of the last time step before those shown, which only a backward run has."""
    cut = view.direction and view.columns < len(view.batch_sizes)
    found: np.ndarray = offsets(view)[view.columns] + _entered(view, view.columns) if cut else np.zeros(0, int)
    return found


@once
def known(view: View) -> np.ndarray:
    """Return the packed rows whose numbers are shown."""
    return np.concatenate([number(view), taken_n(view)])


@once
def slot(view: View) -> np.ndarray:
    """Return (N,): the place of each packed row among the known ones."""
    slots = np.full(sum(view.batch_sizes), NOBODY)
    slots[known(view)] = np.arange(len(known(view)))
    return slots


@once
def packed_pads(view: View) -> Counter[int]:
    """Return how many pads of each sequence were packed."""
    if not view.batch_sizes:
        return Counter()
    return Counter(view.trace.packed.sequence[view.trace.packed_is_pad].tolist())


def pads(view: View) -> int:
    """Return how many pads were packed."""
    return packed_pads(view).total()


def noun(view: View) -> str:
    """Return what a caption calls what was packed: tokens, unless there are pads among them."""
    return "packed row" if pads(view) else "token"


@once
def width_out(view: View) -> int:
    """Return how many time steps the unpacked output has."""
    return int(view.trace.unpacked.output.shape[1 if view.trace.padded.batch_first else 0])


def pads_out(view: View) -> int:
    """Return how many cells of the unpacked output are filler."""
    return sum(width_out(view) - length for length in view.lengths)
