"""The recurrence: one layer in one direction, time step after time step, on packed rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import torch
import torch.nn.functional as F
from torch import Tensor

from packviz.stages.cells import CELLS, Buffers, Cell, Weights

__all__ = ["Direction", "Schedule", "Step", "Weights", "run_direction", "schedule"]

# A new tensor begins at a multiple of 64 bytes (c10/core/alignment.h), a time step's rows in a packed buffer often do
# not; and MKL's matrix product adds up in another order where its first factor begins elsewhere. So such rows are
# copied before they are multiplied, to be torch's to the last bit.
_ALIGNMENT = 64


@dataclass(frozen=True)
class Step:
    """Hold one time step of one direction.

    k            its number in order of processing, from 0
    t            its time step: k forward, T-1-k backward
    start, stop  its packed rows
    live         the sequences in those rows, row by row, by the numbers they came with
    began        those of them that take their first step now
    ended        those of them that take their last step now: their state is final
    """

    k: int
    t: int
    start: int
    stop: int
    live: tuple[int, ...]
    began: tuple[int, ...]
    ended: tuple[int, ...]

    @property
    def rows(self) -> slice:
        """Return the packed rows of this step."""
        return slice(self.start, self.stop)


@dataclass(frozen=True, eq=False)
class Direction:
    """Hold what one layer did in one direction, in packed order; P is the projected size, or H.

    h            (N, P), the output; (N, H) without a projection
    c            (N, H), LSTM only
    named_gates  (name, (N, H)) for each gate, after the activation
    h_0, h_n     (B, P), before the first and after the last valid step, in the order in which the sequences came
    c_0, c_n     (B, H), LSTM only
    backward     whether it runs from the last time step to the first
    batch_sizes  T numbers: the live rows of each time step
    order        B numbers: the sequence at each place of the sorted order
    """

    h: Tensor
    c: Tensor | None
    named_gates: tuple[tuple[str, Tensor], ...]
    h_0: Tensor
    c_0: Tensor | None
    h_n: Tensor
    c_n: Tensor | None
    backward: bool
    batch_sizes: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def gates(self) -> dict[str, Tensor]:
        """Return name -> (N, H), after the activation: r, z, n for the GRU, i, f, g, o for the LSTM."""
        return dict(self.named_gates)

    @property
    def steps(self) -> int:
        """Return T, the number of time steps."""
        return len(self.batch_sizes)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Return the first packed row of each time step, and N as one more."""
        return (0, *accumulate(self.batch_sizes))

    def step(self, k: int) -> Step:
        """Return the k-th time step in order of processing. Raises IndexError unless 0 <= k < T."""
        if not 0 <= k < self.steps:
            raise IndexError(f"step {k} of a direction with {self.steps} time steps, 0 to {self.steps - 1}")
        t = self.steps - 1 - k if self.backward else k
        live = self.order[: self.batch_sizes[t]]
        longer = self.batch_sizes[t + 1] if t + 1 < self.steps else 0  # rows that are live at t + 1, too
        at_its_end, at_zero = live[longer:], live if t == 0 else ()
        began, ended = (at_its_end, at_zero) if self.backward else (at_zero, at_its_end)
        return Step(k, t, self.offsets[t], self.offsets[t + 1], live, began, ended)

    def before(self, k: int) -> tuple[Tensor, Tensor | None]:
        """Return the states h (b, P) and c (b, H) of the live rows as they enter the k-th step."""
        step = self.step(k)
        came_from = self.step(k - 1).start if k else None
        h = _entering(self.h, self.h_0, step.live, came_from, self._continuing(step))
        if self.c is None or self.c_0 is None:
            return h, None
        return h, _entering(self.c, self.c_0, step.live, came_from, self._continuing(step))

    def _continuing(self, step: Step) -> int:
        return len(step.live) - len(step.began)


def _entering(rows: Tensor, initial: Tensor, live: tuple[int, ...], start: int | None, continuing: int) -> Tensor:
    fresh = initial[list(live[continuing:])]
    if start is None or not continuing:
        return fresh
    continued = rows[start : start + continuing]
    return torch.cat([continued, fresh]) if len(fresh) else continued


@dataclass(frozen=True, eq=False)
class Schedule:
    """Hold which packed rows are live when; the same for every layer and direction.

    batch_sizes  T numbers
    order        B numbers: the sequence at each place of the sorted order
    last_rows    (B,): the packed row of each sequence's last valid step, in the order in which the sequences came
    first_rows   (B,): the packed row of each sequence's first step, likewise
    """

    batch_sizes: tuple[int, ...]
    order: tuple[int, ...]
    last_rows: Tensor
    first_rows: Tensor


def schedule(batch_sizes: Tensor, lengths: Tensor, order: Tensor, rank: Tensor) -> Schedule:
    """Read off the live rows.

    batch_sizes (T,); lengths (B,) as the sequences came; order (B,) the sequence at each place, rank (B,) its inverse.
    """
    offsets = batch_sizes.cumsum(0) - batch_sizes
    last_rows = offsets.index_select(0, lengths - 1) + rank
    return Schedule(tuple(batch_sizes.tolist()), tuple(order.tolist()), last_rows, first_rows=rank)


def run_direction(
    data: Tensor, weights: Weights, mode: str, plan: Schedule, initial: tuple[Tensor, ...], *, backward: bool
) -> Direction:
    """Run one direction of one layer over packed rows (N, F).

    mode     torch's name of the cell: "RNN_TANH", "RNN_RELU", "GRU" or "LSTM"
    initial  h_0 (B, P), for the LSTM c_0 (B, H) too, in the sorted order
    """
    cell = CELLS[mode]
    filled = cell.buffers(F.linear(data, weights.w_ih, weights.b_ih))  # (N, G*H), once for all packed rows
    h = filled.h if weights.w_hr is None else data.new_empty(len(data), weights.w_hr.size(0))  # (N, P)
    _fill(filled, h, cell, weights, plan.batch_sizes, initial, backward)
    h_0, *c_0 = (state.index_select(0, plan.first_rows) for state in initial)  # back in the order in which they came
    final = plan.first_rows if backward else plan.last_rows
    return Direction(
        h=h,
        c=filled.c,
        named_gates=filled.named_gates,
        h_0=h_0,
        c_0=c_0[0] if c_0 else None,
        h_n=h.index_select(0, final),
        c_n=None if filled.c is None else filled.c.index_select(0, final),
        backward=backward,
        batch_sizes=plan.batch_sizes,
        order=plan.order,
    )


def _fill(
    filled: Buffers,
    h: Tensor,
    cell: Cell,
    weights: Weights,
    batch_sizes: tuple[int, ...],
    initial: Sequence[Tensor],
    backward: bool,
) -> None:
    """Take every time step, writing into the packed buffers; where there is a projection, h (N, P) is its result."""
    rows = list(zip(*(buffer.split_with_sizes(batch_sizes) for buffer in filled.rows), strict=True))
    w_hh = weights.w_hh.t()  # (P, G*H)
    project = None if weights.w_hr is None else _projection(h, weights.w_hr, batch_sizes)
    begins_as_new = h.size(1) * h.element_size() % _ALIGNMENT == 0
    state: Sequence[Tensor] = initial
    live = 0
    for t in reversed(range(len(rows))) if backward else range(len(rows)):
        if batch_sizes[t] != live:
            live = batch_sizes[t]
            state = [_live(*pair, live) for pair in zip(state, initial, strict=True)]
        hidden_part = _linear(state[0], w_hh, weights.b_hh)  # (b, G*H)
        state = cell.step(rows[t], hidden_part, state)
        if project is not None:
            state = project(state[0], t), *state[1:]
        if not begins_as_new:
            state = state[0].clone(), *state[1:]


def _live(state: Tensor, initial: Tensor, live: int) -> Tensor:
    """Return the states of the live rows: without those that ended, or with those that begin now (backward)."""
    if live <= len(state):
        return state[:live]
    return torch.cat([state, initial[len(state) : live]])


def _linear(h: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
    """Return h (b, P) @ w (P, G*H) + b (G*H,), as ``torch.nn.functional.linear`` computes it, in less time."""
    return torch.mm(h, w) if b is None else torch.addmm(b, h, w)


def _projection(h: Tensor, w_hr: Tensor, batch_sizes: tuple[int, ...]) -> Callable[[Tensor, int], Tensor]:
    """Return how a time step's h (b, H) becomes its rows (b, P) of h: by w_hr (P, H)."""
    rows, w = h.split_with_sizes(batch_sizes), w_hr.t()
    return lambda before, t: torch.mm(before.clone(), w, out=rows[t])
