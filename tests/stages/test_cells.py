"""One step of each cell beside the textbook's formula: equal but for rounding, whose order the formula leaves open."""

import pytest
import torch
from torch import Tensor

from packviz.compute.cells import CELLS

b, H = 3, 5


def parts(G: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(G)
    return torch.randn(b, G * H), torch.randn(b, G * H), torch.randn(b, H), torch.randn(b, H)


@pytest.mark.parametrize(("mode", "activation"), [("RNN_TANH", torch.tanh), ("RNN_RELU", torch.relu)])
def test_an_rnn_adds_the_two_parts_and_squashes(mode: str, activation) -> None:
    inputs, hidden, h, _ = parts(1)
    done = CELLS[mode](inputs, hidden.clone(), h)
    assert list(done) == ["h"]
    torch.testing.assert_close(done["h"], activation(inputs + hidden))


def test_a_gru_step_is_the_formula() -> None:
    inputs, hidden, h, _ = parts(3)
    (i_r, i_z, i_n), (h_r, h_z, h_n) = inputs.chunk(3, 1), hidden.chunk(3, 1)
    r, z = (i_r + h_r).sigmoid(), (i_z + h_z).sigmoid()
    n = (i_n + r * h_n).tanh()
    formula = {"r": r, "z": z, "n": n, "h": (1 - z) * n + z * h}
    torch.testing.assert_close(CELLS["GRU"](inputs, hidden.clone(), h), formula)


def test_an_lstm_step_is_the_formula() -> None:
    inputs, hidden, h, c = parts(4)
    i, f, g, o = (inputs + hidden).chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    after = f * c + i * g
    formula = {"i": i, "f": f, "g": g, "o": o, "c": after, "h": o * after.tanh()}
    torch.testing.assert_close(CELLS["LSTM"](inputs, hidden.clone(), h, c), formula)


@pytest.mark.parametrize(("mode", "G"), [("RNN_TANH", 1), ("RNN_RELU", 1), ("GRU", 3), ("LSTM", 4)])
def test_the_inputs_and_the_state_before_are_left_as_they_were(mode: str, G: int) -> None:
    inputs, hidden, h, c = parts(G)
    given = (inputs, h, c) if mode == "LSTM" else (inputs, h)
    copies = [part.clone() for part in given]
    CELLS[mode](inputs, hidden, *given[1:])
    assert all(torch.equal(*pair) for pair in zip(given, copies, strict=True))
