"""The cells: one time step of RNN, GRU and LSTM for the b sequences that are live.

The lines stand in the order of ATen's RNN.cpp, in place where it works in place: then every number is PyTorch's to the
last bit. That is why GRU's last line is ``(h - n) * z + n``, and not the textbook's ``(1 - z) * n + z * h``.

inputs  (b, G*H)  W_ih x + b_ih, computed for all packed rows at once
hidden  (b, G*H)  W_hh h + b_hh of this time step, which the cell overwrites with its gates
h, c    (b, H)    the state before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import Tensor

__all__ = ["CELLS"]

Recorded = dict[str, Tensor]  # the gates, c for the LSTM, and h: (b, H) each


def _rnn_tanh(inputs: Tensor, hidden: Tensor, _h: Tensor) -> Recorded:
    return {"h": hidden.add_(inputs).tanh_()}


def _rnn_relu(inputs: Tensor, hidden: Tensor, _h: Tensor) -> Recorded:
    return {"h": hidden.add_(inputs).relu_()}


def _gru(inputs: Tensor, hidden: Tensor, h: Tensor) -> Recorded:
    (i_r, i_z, i_n), (h_r, h_z, h_n) = inputs.chunk(3, 1), hidden.chunk(3, 1)  # (b, H) each
    r = h_r.add_(i_r).sigmoid_()
    z = h_z.add_(i_z).sigmoid_()
    n = (i_n + h_n.mul_(r)).tanh_()
    return {"r": r, "z": z, "n": n, "h": (h - n).mul_(z).add_(n)}


def _lstm(inputs: Tensor, hidden: Tensor, _h: Tensor, c: Tensor) -> Recorded:
    i, f, g, o = hidden.add_(inputs).chunk(4, 1)  # (b, H) each
    i, f, g, o = i.sigmoid_(), f.sigmoid_(), g.tanh_(), o.sigmoid_()
    c = (f * c).add_(i * g)
    return {"i": i, "f": f, "g": g, "o": o, "c": c, "h": o * c.tanh()}


CELLS: Mapping[str, Callable[..., Recorded]] = {
    "RNN_TANH": _rnn_tanh,
    "RNN_RELU": _rnn_relu,
    "GRU": _gru,
    "LSTM": _lstm,
}
