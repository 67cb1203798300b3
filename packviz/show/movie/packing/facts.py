"""A movie's view of a trace: which sequences are shown, in which order, which rows are live, and their numbers."""

from collections import Counter
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from packviz.compute.record import Refusal, Trace, Traced
from packviz.errors import PackvizError
from packviz.inputs.cell_kinds import kind_of
from packviz.validate import integer

MAX_UNITS = 8  # of a hidden state
MAX_FEATURES = 12  # of a token
SMALL_FROM = 25  # from this many sequences on, cells are too small for text
NOBODY = -1  # in a table: absent, or not shown

Cells = tuple[np.ndarray, np.ndarray]  # sequence and time step of each


class Window(NamedTuple):
    """The maximum number of sequences shown of a large batch, the longest, and of time steps, the first."""

    sequences: int = 40
    steps: int = 60

    def checked(self) -> "Window":
        """Return the window; raises PackvizError unless both are integers of at least 1."""
        return Window(*(integer(name, value, 1) for name, value in self._asdict().items()))


class Facts:
    """A trace as the movie sees it: `layer` and `direction` (1 is backward) are what the stage `run` watches.

    If torch refused to pack, nothing from `batch_sizes` on exists.
    """

    def __init__(self, trace: Traced, layer: int, direction: int, window: Window = Window()) -> None:  # noqa: B008
        padded, config = trace.padded, trace.config
        self.trace, self.layer, self.direction = trace, layer, direction
        self.module = trace.module
        self.kind = kind_of(trace.module)
        self.cell = self.kind.module.__name__.lower()  # its name in code: rnn, gru or lstm
        self.kept = self.kind.states[-1]  # the state that each step updates: c for the LSTM, else h
        self.gates = "".join(self.kind.gates)  # their letters, in torch's order
        self.refusal = trace.error if isinstance(trace, Refusal) else ""  # what torch said
        self.refused = bool(self.refusal)
        self.enforce_sorted = self.refused or trace.sorted.sorted_indices is None  # the order is checked, not sorted
        self.batch_first = padded.batch_first
        self.padding_side = config.padding_side if config else "right"
        self.embedded = padded.embedding is not None
        self.features: int = padded.values.shape[-1]  # F, what enters the cell
        self.one_number = not self.embedded and padded.tokens.dim() == 2  # needs an extra axis of one feature
        self.raw_vectors = self.features > 1 and not self.embedded
        self.pad_id = (config.pad_id if config else 0) if self.embedded else trace.padding_value

        self.lengths: list[int] = padded.lengths.tolist()  # (B,), in the original order
        self.lens = np.array(self.lengths)
        self.tokens = sum(self.lengths)  # N
        self.mask: np.ndarray = padded.mask.numpy()  # (B,T) True at tokens
        self.total: tuple[int, int] = (len(self.mask), self.mask.shape[1])  # B, T
        self.leads = (self.total[1] - self.lens) * (self.padding_side == "left")  # (B,) pads before each sequence

        self._seen(trace, window)
        self.small = len(self.by_rank) >= SMALL_FROM  # too small for text
        self.most = MAX_UNITS // 2 if self.small else MAX_UNITS  # units of a state shown at most
        self.features_shown = min(self.features, MAX_UNITS // 2 if self.small else MAX_FEATURES)

        self.token_b, self.token_t = self._cells(self.mask)  # a token's number is its index in these columns
        self.pads = self._cells(~self.mask)
        self.token_number = np.full(self.total, NOBODY)  # (B,T)
        self.token_number[self.token_b, self.token_t] = np.arange(len(self.token_b))
        self.row_at = np.full(self.total, NOBODY)  # (B,T) the packed row of each sequence at each time step
        if not self.refused:
            self._packed(trace)
        self.token_n: np.ndarray = self.row_at[self.token_b, self.token_t]  # the packed row of each token
        self.numbers: list[list[int | None]] = []  # every row that a mark shows as stripes, in the form of `stored`
        self._starts: dict[str, int] = {}
        self._matrices: dict[str, np.ndarray] = {}

    def _seen(self, trace: Traced, window: Window) -> None:
        self.order: list[int] = list(range(self.total[0])) if self.refused else trace.sorted.order.tolist()
        longer = (b for b in range(1, self.total[0]) if self.lengths[b] > self.lengths[b - 1])
        self.first_longer = next(longer) if self.refused else 0  # than the one before it
        begins = max(0, self.first_longer + 1 - window.sequences)
        self.by_rank = self.order[begins:][: window.sequences]  # shown, in sorted order: the first packed rows
        self.shown = sorted(self.by_rank)  # the same in the original order
        self.bs, self.ranked = np.array(self.shown), np.array(self.by_rank)  # both as columns
        self.ranks = np.arange(len(self.by_rank))  # their rows in sorted order
        self.window = window
        self.columns = min(self.total[1], window.steps)  # the time steps shown
        self.ts = np.arange(self.columns)
        self.rank, self.place = np.full((2, self.total[0]), NOBODY)  # (B,) the row in either order
        self.rank[self.ranked] = self.place[self.bs] = self.ranks
        if (first := int(self.leads[self.bs].min())) >= self.columns:
            expected, fix = f"at least {first + 1} time steps", "show more: left of the first tokens is only padding"
            raise PackvizError("steps", expected=expected, got=str(window.steps), fix=fix)

    def _packed(self, trace: Trace) -> None:
        self.watched = trace.layers[self.layer][self.direction]
        self.directions = len(trace.layers[0])  # D
        self.last_layer = self.layer == len(trace.layers) - 1 and self.directions == 1  # watched: all of the output
        self.units = min(self.watched.h.shape[1], self.most)  # hidden units shown
        below = trace.layers[self.layer - 1] if self.layer else ()
        self.entering = sum(half.h.shape[1] for half in below) or self.features  # numbers that enter at a packed row
        self.batch_sizes: list[int] = trace.packed.batch_sizes.tolist()  # (T,)
        self.offsets: list[int] = trace.packed.offsets.tolist()  # (T,) the packed row at which each time step begins
        self.live = [self.by_rank[:size] for size in self.batch_sizes[: self.columns]]  # with a row at each step
        self.live_sizes = counts = np.array([len(rows) for rows in self.live])
        self.packed_b = np.array([b for rows in self.live for b in rows])  # of each packed row its sequence,
        self.packed_t = np.repeat(np.arange(len(counts)), counts)  # its time step,
        self.packed_n = np.array(self.offsets)[self.packed_t] + self.rank[self.packed_b]  # and its number
        self.row_at[self.packed_b, self.packed_t] = self.packed_n
        cut = self.direction and self.columns < len(self.batch_sizes)  # going backward, other time steps come first
        entered = min(self.batch_sizes[self.columns], len(self.by_rank)) if cut else 0
        self.taken_n = sum(self.batch_sizes[: self.columns]) + np.arange(entered)  # the rows of the last one
        self.known_n = np.concatenate([self.packed_n, self.taken_n])
        self.slot = np.full(self.tokens, NOBODY)  # (N,) the place of each packed row in the known matrices
        self.slot[self.known_n] = np.arange(len(self.known_n))
        self.packed_pads = Counter(trace.packed.sequence[trace.packed_is_pad].tolist())  # how many each sequence has
        self.width_out: int = trace.unpacked.output.shape[1 if self.batch_first else 0]
        self.pads_out = sum(self.width_out - length for length in self.lengths)  # cells of the output with filler

    def _cells(self, where: np.ndarray) -> Cells:
        steps, rows = where[self.by_rank, : self.columns].T.nonzero()
        return self.ranked[rows], steps

    @property
    def states(self) -> list[Tensor]:
        """Every state of the run, h and c of all layers and directions; none if torch refused to pack."""
        halves = [] if self.refused else [half for layer in self.trace.layers for half in layer]
        return [state for half in halves for state in (half.h, half.c) if state is not None]

    @cached_property
    def initial_state(self) -> str:
        """`zeros`, `random`, `learned`, `carried`, or `given` by the caller."""
        if self.trace.config:
            return self.trace.config.initial_state
        states = (state for state in (self.trace.h_0, self.trace.c_0) if state is not None)
        return "given" if any(bool(state.any()) for state in states) else "zeros"

    def rows(self, name: str, matrix: Tensor | None = None) -> int:
        """Return where the rows of a matrix begin in `numbers`: of a new matrix, or of one with a known name."""
        if name == "output" and self.last_layer:
            name = "h"
        if name not in self._starts:
            self._starts[name] = len(self.numbers)
            self.numbers.extend(stored(self.matrix(name) if matrix is None else rounded(matrix)))
        return self._starts[name]

    def rows_at(self, name: str, n: Any) -> Any:
        """Return where in `numbers` the packed rows n of a known matrix are."""
        return self.rows(name) + self.slot[n]

    def matrix(self, name: str) -> np.ndarray:
        """Return the numbers of a known matrix as shown: h_0, c_0, x; or of packed rows, at their `slot`:
        a gate, inside, h, c, output, below."""
        if name not in self._matrices:
            self._matrices[name] = rounded(self._known(name))
        return self._matrices[name]

    def _known(self, name: str) -> Tensor:
        if name == "x":
            return self.trace.padded.grid[self.shown, : self.columns, : self.features_shown].flatten(0, 1)
        seen = torch.from_numpy(self.known_n)
        if name == "output":
            return self.halves(self.trace.output[seen]).flatten(1)
        if name == "below":
            halves = self.trace.layers[self.layer - 1]
            return torch.cat([half.h[seen, : self.most // len(halves)] for half in halves], 1)
        watched = self.watched
        if name == "inside":  # the gates of each packed row, and an LSTM's c
            inside = [*watched.gates.values(), *([] if watched.c is None else [watched.c])]
            return torch.stack([each[seen, : self.units] for each in inside], 1).flatten(0, 1)
        if name in ("h_0", "c_0"):
            return watched.initial[name == "c_0"][:, : self.units]
        return watched.rows[name][seen, : self.units]

    def shown_number(self, name: str, n: int) -> float:
        """Return the number shown for unit 0 in a row of a known matrix."""
        return float(self.matrix(name)[self.slot[n], 0])

    def x_rows(self, b: Any, t: Any) -> Any:
        """Return where in `numbers` the features that enter the cell for a sequence at a time step are."""
        return self.rows("x") + self.place[b] * self.columns + t

    def halves(self, rows: Tensor) -> Tensor:
        """Return (rows, D, units) from (rows, D*H): the units shown of each direction."""
        return rows.view(len(rows), self.directions, -1)[..., : self.most // self.directions]


def rounded(rows: Tensor) -> np.ndarray:
    """Return numbers rounded to the four decimals that are shown."""
    return rows.detach().double().numpy().round(4)


def stored(matrix: np.ndarray) -> list[list[int | None]]:
    """Return rounded numbers in ten-thousandths, which take fewer digits in JSON; None for NaN and infinities."""
    whole = np.rint(matrix * 1e4)
    if (np.abs(whole) < 2**53).all():
        rows: list[list[int | None]] = whole.astype(np.int64).tolist()
        return rows
    return [[int(value) if isfinite(value) else None for value in row] for row in whole.tolist()]


def exact(value: float) -> str:
    """Return all digits of a number, without a needless `.0`."""
    return repr(value).removesuffix(".0")


def number(value: float) -> str:
    """Return a number as written in a cell: short, without a needless `.0`."""
    if not isfinite(value) or value != int(value):
        return f"{value:.4g}"
    return str(int(value)) if abs(value) < 1e6 else f"{value:.3g}"
