"""The table of cell kinds: torch's modules and the recorded run are the judges of what it says."""

import pytest

from packviz import Batch, Config, trace
from packviz.inputs.cell_kinds import CELL_KINDS, kind_of
from packviz.inputs.config import Cell

each_kind = pytest.mark.parametrize("cell", CELL_KINDS)
BATCH = Batch.parse("1 -2 3\n4 5\n-6")


@each_kind
def test_a_kind_has_the_gates_states_and_rows_of_weights_that_torch_gives_it(cell: Cell) -> None:
    kind, t = CELL_KINDS[cell], trace(BATCH, Config(cell=cell, hidden_size=3))
    assert kind_of(t.module) is kind
    assert len(t.module.state_dict()["weight_ih_l0"]) == kind.G * 3
    assert list(t.layers[0][0].gates) == list(kind.gates)
    assert ("c" in kind.states) == (t.c_n is not None)


@each_kind
def test_settings_of_other_kinds_are_left_out_of_a_module(cell: Cell) -> None:
    built = CELL_KINDS[cell].build(2, 3, nonlinearity="relu", proj_size=1)
    assert built.proj_size == (1 if cell == "lstm" else 0)
    assert built.mode == ("RNN_RELU" if cell == "rnn" else cell.upper())
