"""The recurrence: one layer in one direction, time step after time step, on packed rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import torch
import torch.nn.functional as F
from torch import Tensor

from packviz.compute.cells import CELLS
from packviz.inputs.module import Weights

__all__ = ["Direction", "Schedule", "Step", "run_direction", "schedule"]


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

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Return the first packed row of each time step, and N as one more."""
        return (0, *accumulate(self.batch_sizes))


@dataclass(frozen=True, eq=False)
class Direction:
    """Hold what one layer did in one direction; P is the projected size, or H.

    rows      name -> (N, H) in packed order: the gates after their activation, c for the LSTM, and h, which is (N, P)
    initial   h_0 (B, P) and, for the LSTM, c_0 (B, H), in the order in which the sequences came
    schedule  which rows are live when
    backward  whether it runs from the last time step to the first
    """

    rows: Mapping[str, Tensor]
    initial: tuple[Tensor, ...]
    schedule: Schedule
    backward: bool

    @property
    def h(self) -> Tensor:
        """Return (N, P): the output."""
        return self.rows["h"]

    @property
    def c(self) -> Tensor | None:
        """Return (N, H) for an LSTM, else None."""
        return self.rows.get("c")

    @property
    def gates(self) -> dict[str, Tensor]:
        """Return name -> (N, H), after the activation: r, z, n for the GRU, i, f, g, o for the LSTM."""
        return {name: rows for name, rows in self.rows.items() if name not in ("c", "h")}

    @property
    def h_0(self) -> Tensor:
        """Return (B, P): the state before the first step."""
        return self.initial[0]

    @property
    def c_0(self) -> Tensor | None:
        """Return (B, H) for an LSTM, else None."""
        return self.initial[1] if len(self.initial) > 1 else None

    @cached_property
    def h_n(self) -> Tensor:
        """Return (B, P): the state after each sequence's last step, in the order in which they came."""
        return self.h.index_select(0, self._final_rows)

    @cached_property
    def c_n(self) -> Tensor | None:
        """Return (B, H) for an LSTM, else None."""
        return None if self.c is None else self.c.index_select(0, self._final_rows)

    @property
    def _final_rows(self) -> Tensor:
        return self.schedule.first_rows if self.backward else self.schedule.last_rows

    @property
    def steps(self) -> int:
        """Return T, the number of time steps."""
        return len(self.schedule.batch_sizes)

    def step(self, k: int) -> Step:
        """Return the k-th time step in order of processing. Raises IndexError unless 0 <= k < T."""
        if not 0 <= k < self.steps:
            raise IndexError(f"step {k} of a direction with {self.steps} time steps, 0 to {self.steps - 1}")
        t = self.steps - 1 - k if self.backward else k
        sizes, offsets = self.schedule.batch_sizes, self.schedule.offsets
        live = self.schedule.order[: sizes[t]]
        longer = sizes[t + 1] if t + 1 < self.steps else 0  # rows that are live at t + 1, too
        at_its_end, at_zero = live[longer:], live if t == 0 else ()
        began, ended = (at_its_end, at_zero) if self.backward else (at_zero, at_its_end)
        return Step(k, t, offsets[t], offsets[t + 1], live, began, ended)

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
    inputs = F.linear(data, weights.w_ih, weights.b_ih).split_with_sizes(plan.batch_sizes)  # T times (b, G*H)
    state = tuple(part[:0] for part in initial)
    steps: list[dict[str, Tensor]] = []
    for t in reversed(range(len(inputs))) if backward else range(len(inputs)):
        state = tuple(_live(*pair, plan.batch_sizes[t]) for pair in zip(state, initial, strict=True))
        done = cell(inputs[t], F.linear(state[0], weights.w_hh, weights.b_hh), *state)
        if weights.w_hr is not None:
            done["h"] = F.linear(done["h"], weights.w_hr)  # (b, P)
        state = (done["h"], done["c"]) if "c" in done else (done["h"],)
        steps.append(done)
    if backward:
        steps.reverse()
    return Direction(
        rows={name: torch.cat([step[name] for step in steps]) for name in steps[0]},
        initial=tuple(part.index_select(0, plan.first_rows) for part in initial),  # as the sequences came
        schedule=plan,
        backward=backward,
    )


def _live(state: Tensor, initial: Tensor, live: int) -> Tensor:
    """Return the states of the live rows: without those that ended, or with those that begin now (backward)."""
    if live <= len(state):
        return state[:live]
    return torch.cat([state, initial[len(state) : live]])
