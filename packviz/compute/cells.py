"""The cells: one time step of RNN, GRU and LSTM for the b live sequences.

The lines follow ATen's RNN.cpp in order and in where they compute: in new tensors, because a kernel may round
differently on a view into another tensor. So every number is PyTorch's to the last bit. That is why GRU's last line is
``(h - n) * z + n``, not the textbook's ``(1 - z) * n + z * h``.

inputs  (b, G*H)  W_ih x + b_ih of this time step, which the cell overwrites with its gates
hidden  (b, G*H)  W_hh h + b_hh of this time step, a new tensor, which is overwritten
h, c    (b, H)    the state before the step; the function returns the state after it, beside (): its gates are in inputs

Autograd refuses to go back through cells that overwrite their inputs. DIFFERENTIABLE_CELLS has the same arithmetic in
new tensors, and returns the gates beside the state: the very tensors that the new state was computed from.
"""

from collections.abc import Callable, Mapping

from torch import Tensor

State = tuple[Tensor, ...]  # h (b, H), and c (b, H) for the LSTM
Opened = tuple[tuple[Tensor, ...], State]  # the gates after their activation, (b, H) each, and the new state


def _rnn_tanh(inputs: Tensor, hidden: Tensor, _h: Tensor) -> Opened:
    return (), (hidden.add_(inputs).tanh_(),)


def _rnn_relu(inputs: Tensor, hidden: Tensor, _h: Tensor) -> Opened:
    return (), (hidden.add_(inputs).relu_(),)


def _gru(inputs: Tensor, hidden: Tensor, h: Tensor) -> Opened:
    (i_r, i_z, i_n), (r, z, h_n) = inputs.chunk(3, 1), hidden.chunk(3, 1)  # (b, H) each
    i_r.copy_(r.add_(i_r).sigmoid_())
    i_z.copy_(z.add_(i_z).sigmoid_())
    n = (i_n + h_n.mul_(r)).tanh_()
    i_n.copy_(n)
    return (), ((h - n).mul_(z).add_(n),)


def _lstm(inputs: Tensor, hidden: Tensor, _h: Tensor, c: Tensor) -> Opened:
    i, f, g, o = hidden.add_(inputs).chunk(4, 1)  # (b, H) each
    i, f, g, o = i.sigmoid_(), f.sigmoid_(), g.tanh_(), o.sigmoid_()
    inputs.copy_(hidden)
    c = (f * c).add_(i * g)
    return (), (o * c.tanh(), c)


def _differentiable_rnn_tanh(inputs: Tensor, hidden: Tensor, _h: Tensor) -> Opened:
    return (), ((hidden + inputs).tanh(),)


def _differentiable_rnn_relu(inputs: Tensor, hidden: Tensor, _h: Tensor) -> Opened:
    return (), ((hidden + inputs).relu(),)


def _differentiable_gru(inputs: Tensor, hidden: Tensor, h: Tensor) -> Opened:
    r, z, _ = (hidden + inputs).chunk(3, 1)  # views, as in _gru: a kernel may round differently on a tensor of its own
    r, z = r.sigmoid(), z.sigmoid()
    n = (inputs.chunk(3, 1)[2] + hidden.chunk(3, 1)[2] * r).tanh()
    return (r, z, n), ((h - n) * z + n,)


def _differentiable_lstm(inputs: Tensor, hidden: Tensor, _h: Tensor, c: Tensor) -> Opened:
    i, f, g, o = (hidden + inputs).chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    c = f * c + i * g
    return (i, f, g, o), (o * c.tanh(), c)


CELLS: Mapping[str, Callable[..., Opened]] = {
    "RNN_TANH": _rnn_tanh,
    "RNN_RELU": _rnn_relu,
    "GRU": _gru,
    "LSTM": _lstm,
}
DIFFERENTIABLE_CELLS: Mapping[str, Callable[..., Opened]] = {
    "RNN_TANH": _differentiable_rnn_tanh,
    "RNN_RELU": _differentiable_rnn_relu,
    "GRU": _differentiable_gru,
    "LSTM": _differentiable_lstm,
}
