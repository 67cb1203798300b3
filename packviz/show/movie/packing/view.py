"""What is watched of a run: the record that all stages share."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from packviz.compute.backward import Gradients
from packviz.compute.record import Refusal, Traced
from packviz.errors import PackvizError
from packviz.show.movie.about import Asked
from packviz.validate import integer

SMALL_FROM = 25  # from this many sequences on, cells are too small for text
NOBODY = -1  # in a table: absent, or not shown


class Window(NamedTuple):
    """The maximum number of sequences shown of a large batch, from both ends of the order, and of first time steps."""

    sequences: int = Asked().sequences
    steps: int = Asked().steps

    def checked(self) -> "Window":
        """Return the window; raises PackvizError unless both are integers of at least 1."""
        return Window(*(integer(name, value, 1) for name, value in self._asdict().items()))


@dataclass(frozen=True, eq=False)
class View:
    """A run and what is watched of it; what stages compute from these is added to `numbers` and `made`.

    trace               a Trace, or a Refusal
    layer, direction    what the stage `run` watches; direction 1 is backward
    window, columns     how much is shown at most, and how many time steps are
    transposed          whether time runs down, as in x of (T, B, F)
    stages, deep        those that are shown, and those with all their explanations
    lengths, mask       (B,), and (B, T): True at tokens
    total               (B, T)
    order               (B,): the sequences in sorted order
    ranked, shown       the sequences that are shown, in sorted and in the original order
    rank, place         (B,): the row of each sequence in either order, -1 if it is not shown
    batch_sizes         (T,); empty if torch refused to pack
    small               whether cells are too small for text
    text                room for a line of text, in units: cells may be smaller than legible text
    numbers             every row that a mark shows as stripes, in ten-thousandths; stages add to it
    gradients           of the stage `backward`; None if it is not shown
    made                what `once` keeps
    """

    trace: Traced
    layer: int
    direction: int
    window: Window
    columns: int
    transposed: bool
    deep: frozenset[str]
    lengths: list[int]
    mask: np.ndarray
    total: tuple[int, int]
    order: list[int]
    ranked: np.ndarray
    shown: np.ndarray
    rank: np.ndarray
    place: np.ndarray
    batch_sizes: list[int]
    small: bool
    text: float = 1.0
    numbers: list[list[int | None]] = field(default_factory=list)
    stages: frozenset[str] = frozenset({"run"})
    gradients: Gradients | None = None
    made: dict[object, Any] = field(default_factory=dict)


def watch(
    trace: Traced, layer: int, direction: int, window: Window, *, transposed: bool, deep: frozenset[str] = frozenset()
) -> View:
    """Return the view of a trace: its longest and shortest sequences, or those at which torch refused, from t = 0.

    Padding changes the shortest sequences most, so they are never left out.
    """
    lengths, refused = trace.padded.lengths.tolist(), isinstance(trace, Refusal)
    rows, columns = trace.padded.mask.shape
    order = list(range(rows)) if refused else trace.sorted.order.tolist()
    if refused:
        longer = next(b for b in range(1, rows) if lengths[b] > lengths[b - 1])
        ranked = np.array(order[max(0, longer + 1 - window.sequences) :][: window.sequences])
    else:
        ranked = np.array(_both_ends(order, window.sequences))
    shown = np.sort(ranked)
    if (
        trace.config
        and trace.config.padding_side == "left"
        and columns - max(lengths[b] for b in shown) >= window.steps
    ):
        expected = f"at least {columns - max(lengths[b] for b in shown) + 1} time steps"
        fix = "show more: left of the first tokens is only padding"
        raise PackvizError("steps", expected=expected, got=str(window.steps), fix=fix)
    rank, place = np.full((2, rows), NOBODY)
    rank[ranked] = place[shown] = np.arange(len(ranked))
    return View(
        trace=trace,
        layer=layer,
        direction=direction,
        window=window,
        columns=min(columns, window.steps),
        transposed=transposed,
        deep=deep,
        lengths=lengths,
        mask=trace.padded.mask.numpy(),
        total=(rows, columns),
        order=order,
        ranked=ranked,
        shown=shown,
        rank=rank,
        place=place,
        batch_sizes=[] if refused else trace.packed.batch_sizes.tolist(),
        small=len(ranked) >= SMALL_FROM,
    )


def _both_ends(order: list[int], most: int) -> list[int]:
    """Return the first and the last sequences of an order, at most so many in all."""
    last = most // 2
    return order if len(order) <= most else order[: most - last] + order[len(order) - last :]


def listed(values: list[int]) -> str:
    """Return numbers like a Python list, with the middle left out if there are many."""
    return f"[{', '.join(map(str, values[:8]))}, … {values[-1]}]" if len(values) > 12 else str(values)
