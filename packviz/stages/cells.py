"""The cells: one time step of RNN, GRU and LSTM on packed rows.

The formulas stand in the order in which PyTorch computes them (aten/src/ATen/native/RNN.cpp), because only then
every number is PyTorch's to the last bit:

- the input part W_ih x + b_ih is one matrix product for all packed rows, the hidden part one for each time step;
- sigmoid and tanh run in place on tensors of the same shape and strides as there: their vector code and its
  remainder may differ in the last bit. So r, z, i, f, g, o are columns of a wide tensor while n is a tensor of its own;
- GRU's last line is ``(h - n) * z + n``, not ``(1 - z) * n + z * h``.

The buffers are what is recorded, too: a step writes its gates where the input part stood, and copies only n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["CELLS", "Buffers", "Cell", "Weights"]

Rows = tuple[Tensor, ...]
State = Sequence[Tensor]  # (h,), for the LSTM (h, c)


@dataclass(frozen=True, eq=False)
class Weights:
    """Hold the parameters of one layer and direction; G is 1, 3 or 4, P the projected size or H.

    w_ih (G*H, F), w_hh (G*H, P), b_ih and b_hh (G*H,) or None, w_hr (P, H) or None
    """

    w_ih: Tensor
    w_hh: Tensor
    b_ih: Tensor | None = None
    b_hh: Tensor | None = None
    w_hr: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Buffers:
    """Hold the packed tensors that the steps fill, N rows each.

    rows         what a step function unpacks, in its order
    h            (N, H), before any projection
    c            (N, H), LSTM only
    named_gates  (name, (N, H)) for each gate, after the activation
    """

    rows: Rows
    h: Tensor
    c: Tensor | None = None
    named_gates: tuple[tuple[str, Tensor], ...] = ()


@dataclass(frozen=True, eq=False)
class Cell:
    """Hold one kind of cell.

    buffers  packed input part (N, G*H) -> Buffers
    step     rows of this time step, hidden part (b, G*H), state before -> state after; the hidden part is used up
    """

    buffers: Callable[[Tensor], Buffers]
    step: Callable[[Rows, Tensor, State], State]


def _rnn_buffers(input_part: Tensor) -> Buffers:
    return Buffers((input_part,), input_part)


def _rnn_tanh_step(rows: Rows, hidden_part: Tensor, state: State) -> State:  # noqa: ARG001 (h is in the hidden part)
    return (rows[0].add_(hidden_part).tanh_(),)


def _rnn_relu_step(rows: Rows, hidden_part: Tensor, state: State) -> State:  # noqa: ARG001
    return (rows[0].add_(hidden_part).relu_(),)


def _gru_buffers(input_part: Tensor) -> Buffers:
    r, z, n = input_part.chunk(3, 1)  # (N, H) each, columns of (N, 3H)
    rz, h = input_part[:, : 2 * r.size(1)], r.new_empty(r.shape)
    return Buffers((rz, r, z, n, h), h, named_gates=(("r", r), ("z", z), ("n", n)))


def _gru_step(rows: Rows, hidden_part: Tensor, state: State) -> State:
    rz, r, z, i_n, h_t = rows
    (h,) = state
    hidden_rz, hidden_n = hidden_part.split_with_sizes((rz.size(1), r.size(1)), 1)
    rz.add_(hidden_rz)
    r.sigmoid_()
    z.sigmoid_()
    n = torch.add(i_n, hidden_n.mul_(r)).tanh_()  # (b, H), contiguous as there
    i_n.copy_(n)
    return (torch.sub(h, n, out=h_t).mul_(z).add_(n),)


def _lstm_buffers(input_part: Tensor) -> Buffers:
    i, f, g, o = input_part.chunk(4, 1)  # (N, H) each, columns of (N, 4H)
    c, h = i.new_empty(i.shape), i.new_empty(i.shape)
    return Buffers((input_part, i, f, g, o, c, h), h, c, (("i", i), ("f", f), ("g", g), ("o", o)))


def _lstm_step(rows: Rows, hidden_part: Tensor, state: State) -> State:
    gates, i, f, g, o, c_t, h_t = rows
    _, c = state
    gates.add_(hidden_part)
    i.sigmoid_()
    f.sigmoid_()
    g.tanh_()
    o.sigmoid_()
    torch.mul(f, c, out=c_t).add_(i * g)
    return torch.mul(o, c_t.tanh(), out=h_t), c_t


CELLS: Mapping[str, Cell] = {
    "RNN_TANH": Cell(_rnn_buffers, _rnn_tanh_step),
    "RNN_RELU": Cell(_rnn_buffers, _rnn_relu_step),
    "GRU": Cell(_gru_buffers, _gru_step),
    "LSTM": Cell(_lstm_buffers, _lstm_step),
}
