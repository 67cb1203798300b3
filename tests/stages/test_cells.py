"""One step of each cell beside the textbook's formula: equal but for rounding, whose order the formula leaves open."""

import pytest
import torch
from torch import Tensor

from packviz.stages.cells import CELLS, Buffers

b, H = 3, 5


def parts(G: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(G)
    return torch.randn(b, G * H), torch.randn(b, G * H), torch.randn(b, H), torch.randn(b, H)


def step(mode: str, input_part: Tensor, hidden_part: Tensor, *state: Tensor) -> tuple[Buffers, list[Tensor]]:
    buffers = CELLS[mode].buffers(input_part.clone())
    return buffers, list(CELLS[mode].step(buffers.rows, hidden_part.clone(), state))


@pytest.mark.parametrize(("mode", "activation"), [("RNN_TANH", torch.tanh), ("RNN_RELU", torch.relu)])
def test_an_rnn_adds_the_two_parts_and_squashes(mode: str, activation) -> None:
    input_part, hidden_part, h, _ = parts(1)
    buffers, (after,) = step(mode, input_part, hidden_part, h)
    torch.testing.assert_close(after, activation(input_part + hidden_part))
    assert buffers.named_gates == ()
    assert torch.equal(buffers.h, after)


def test_a_gru_step_is_the_formula() -> None:
    input_part, hidden_part, h, _ = parts(3)
    buffers, (after,) = step("GRU", input_part, hidden_part, h)
    (i_r, i_z, i_n), (h_r, h_z, h_n) = input_part.chunk(3, 1), hidden_part.chunk(3, 1)
    r, z = (i_r + h_r).sigmoid(), (i_z + h_z).sigmoid()
    n = (i_n + r * h_n).tanh()
    gates = dict(buffers.named_gates)
    assert list(gates) == ["r", "z", "n"]
    for ours, formula in ((gates["r"], r), (gates["z"], z), (gates["n"], n), (after, (1 - z) * n + z * h)):
        torch.testing.assert_close(ours, formula)
    assert torch.equal(buffers.h, after)


def test_an_lstm_step_is_the_formula() -> None:
    input_part, hidden_part, h, c = parts(4)
    buffers, (h_after, c_after) = step("LSTM", input_part, hidden_part, h, c)
    i, f, g, o = (input_part + hidden_part).chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    gates = dict(buffers.named_gates)
    assert list(gates) == ["i", "f", "g", "o"]
    for ours, formula in zip(gates.values(), (i, f, g, o), strict=True):
        torch.testing.assert_close(ours, formula)
    torch.testing.assert_close(c_after, f * c + i * g)
    torch.testing.assert_close(h_after, o * c_after.tanh())
    assert torch.equal(buffers.h, h_after)
    assert torch.equal(buffers.c, c_after)


@pytest.mark.parametrize(("mode", "G"), [("RNN_TANH", 1), ("RNN_RELU", 1), ("GRU", 3), ("LSTM", 4)])
def test_gates_are_columns_of_the_input_part_and_nothing_else_is_kept(mode: str, G: int) -> None:
    input_part = torch.randn(b, G * H)
    buffers = CELLS[mode].buffers(input_part)
    gates = [gate for _, gate in buffers.named_gates]
    assert all(gate.untyped_storage().data_ptr() == input_part.untyped_storage().data_ptr() for gate in gates)


@pytest.mark.parametrize(("mode", "G"), [("RNN_TANH", 1), ("RNN_RELU", 1), ("GRU", 3), ("LSTM", 4)])
def test_the_state_before_is_left_as_it_was(mode: str, G: int) -> None:
    input_part, hidden_part, h, c = parts(G)
    state = (h, c) if mode == "LSTM" else (h,)
    copies = [part.clone() for part in state]
    step(mode, input_part, hidden_part, *state)
    assert all(torch.equal(*pair) for pair in zip(state, copies, strict=True))
