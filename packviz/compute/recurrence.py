"""The recurrence: every layer and direction, time step after time step, on packed rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from packviz.compute.cells import CELLS, Opened, State
from packviz.compute.stages import Packed
from packviz.inputs.cell_kinds import cell_kind_of
from packviz.inputs.module import directions, states_of
from packviz.text import Brief


@dataclass(frozen=True, repr=False)
class TimeStep(Brief):
    """One time step of one direction.

    k            its number in processing order, from 0
    t            its time step: k forward, T-1-k backward
    start, stop  its packed rows
    live         the sequences in those rows, row by row, by their original numbers
    began        those that take their first step now
    ended        those that take their last step now: their state is final
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


@dataclass(frozen=True, eq=False, repr=False)
class Direction(Brief):
    """What one layer did in one direction; P is the projected size, or H.

    rows      name -> (N, H) in packed order: the gates after their activation, c for the LSTM, and h, which is (N, P)
    initial   h_0 (B, P) and, for the LSTM, c_0 (B, H), in the original order of the sequences
    packed    the sizes and order of the packed rows
    backward  whether it runs from the last time step to the first
    """

    rows: Mapping[str, Tensor]
    initial: tuple[Tensor, ...]
    packed: Packed
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
        """Return (B, P): the state after each sequence's last step, in the original order."""
        return self.h.index_select(0, self._final_rows)

    @cached_property
    def c_n(self) -> Tensor | None:
        """Return (B, H) for an LSTM, else None."""
        return None if self.c is None else self.c.index_select(0, self._final_rows)

    @property
    def _final_rows(self) -> Tensor:
        return self.packed.first_rows if self.backward else self.packed.last_rows

    @property
    def steps(self) -> int:
        """Return T, the number of time steps."""
        return len(self.packed.sizes)

    def step(self, k: int) -> TimeStep:
        """Return the k-th time step in processing order. Raises IndexError unless 0 <= k < T."""
        if not 0 <= k < self.steps:
            raise IndexError(f"step {k} of a direction with {self.steps} time steps, 0 to {self.steps - 1}")
        t = self.steps - 1 - k if self.backward else k
        sizes, start = self.packed.sizes, int(self.packed.offsets[t])
        live = self.packed.order[: sizes[t]]
        longer = sizes[t + 1] if t + 1 < self.steps else 0  # rows still live at t + 1
        at_its_end, at_zero = live[longer:], live if t == 0 else ()
        began, ended = (at_its_end, at_zero) if self.backward else (at_zero, at_its_end)
        return TimeStep(k, t, start, start + len(live), live, began, ended)

    def before(self, k: int) -> tuple[Tensor, Tensor | None]:
        """Return the states h (b, P) and c (b, H) of the live rows as they enter the k-th step."""
        step = self.step(k)
        continuing = len(step.live) - len(step.began)  # these rows come first
        start = self.step(k - 1).start if continuing else 0
        entering = [
            torch.cat([self.rows[name][start : start + continuing], initial[list(step.began)]])
            for name, initial in zip("hc", self.initial, strict=False)
        ]
        return states_of(entering)


Layer = tuple[Direction, ...]


class Weights(NamedTuple):
    """The weights of one direction: w_ih (G*H, F), w_hh (G*H, P), b_ih and b_hh (G*H,), w_hr (P, H)."""

    w_ih: Tensor
    w_hh: Tensor
    b_ih: Tensor | None
    b_hh: Tensor | None
    w_hr: Tensor | None


def run_layers(module: nn.RNNBase, packed: Packed, h_0: Tensor, c_0: Tensor | None) -> tuple[Layer, ...]:
    """Run each layer over the packed output (N, D*H) of the one below, as the module's own forward does.

    h_0 (L*D, B, P), for the LSTM c_0 (L*D, B, H), in the original order of the sequences.
    """
    initial, order = (h_0,) if c_0 is None else (h_0, c_0), packed.sorted_indices
    entering = initial if order is None else tuple(part.index_select(1, order) for part in initial)
    states = zip(zip(*initial, strict=True), zip(*entering, strict=True), strict=True)  # of each layer and direction
    weights, data, layers = iter(module.all_weights), packed.data, list[Layer]()
    for _ in range(module.num_layers):
        layer = tuple(
            _run_direction(module, next(weights), data, packed, *next(states), backward=d == 1)
            for d in range(directions(module))
        )
        data = output_of(layer)
        layers.append(layer)
    return tuple(layers)


def output_of(layer: Layer) -> Tensor:
    """Return (N, D*P): the states of a layer, its directions side by side."""
    return layer[0].h if len(layer) == 1 else torch.cat([direction.h for direction in layer], 1)


def weights_by_role(module: nn.RNNBase, weights: Sequence[Tensor]) -> Weights:
    """Return the weights of a direction by name, from one of module.all_weights."""
    w_ih, w_hh, *others = weights
    b_ih, b_hh = others[:2] if module.bias else (None, None)
    return Weights(w_ih, w_hh, b_ih, b_hh, others[-1] if module.proj_size else None)


def _live_states(state: State, entering: State, live: int) -> State:
    """Return the rows of a state that are live at the next time step, (live, P) and (live, H).

    Ended rows are dropped; going backward, new ones begin with their rows of entering, h_0 and c_0 in sorted order. If
    nothing changes, it is the same tensors: with a slice at every step, autograd would add up in another order.
    """
    before = len(state[0])
    if live == before:
        return state
    return tuple(
        part[:live] if live < before else torch.cat([part, first[before:live]])
        for part, first in zip(state, entering, strict=True)
    )


def _run_direction(
    module: nn.RNNBase,
    weights: Sequence[Tensor],
    data: Tensor,
    packed: Packed,
    initial: State,
    entering: State,
    *,
    backward: bool,
) -> Direction:
    """Run one direction of one layer over packed rows (N, F), with its weights as torch lists them.

    initial, entering   h_0 (B, P) and, for the LSTM, c_0 (B, H), in the original and in sorted order
    """
    kind, roles = cell_kind_of(module), weights_by_role(module, weights)
    gates = F.linear(data, roles.w_ih, roles.b_ih)  # (N, G*H): for now only the inputs' contribution
    steps = recur(CELLS[module.mode], gates.split_with_sizes(packed.sizes), entering, roles, backward=backward)
    rows = dict(zip(kind.gates, gates.chunk(kind.G, 1), strict=False))  # none for the RNN
    rows |= {name: torch.cat(states) for name, states in zip(kind.states, zip(*steps, strict=True), strict=True)}
    return Direction(rows, initial, packed, backward)


def recur(
    cell: Callable[..., Opened], inputs: Sequence[Tensor], entering: State, weights: Weights, *, backward: bool
) -> list[tuple[Tensor, ...]]:
    """Run a cell over T time steps, from the inputs' contribution (b, G*H) of each, and h_0 and c_0 in sorted order.

    Returns for each time step the gates, if the cell returns them, (b, H) each, and the state, h (b, P) and c (b, H).
    """
    order = range(len(inputs))[::-1] if backward else range(len(inputs))
    state, steps = tuple(part[: len(inputs[order[0]])] for part in entering), []
    for t in order:
        state = _live_states(state, entering, len(inputs[t]))
        gates, (h, *c) = cell(inputs[t], F.linear(state[0], weights.w_hh, weights.b_hh), *state)
        state = (h if weights.w_hr is None else F.linear(h, weights.w_hr), *c)
        steps.append((*gates, *state))
    return steps[::-1] if backward else steps
