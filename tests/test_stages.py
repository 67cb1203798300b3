"""Each stage alone: small cases with the expected rows written out; torch's own cells judge a step."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from packviz.compute.recurrence import Direction
from packviz.compute.stages import pad
from packviz.compute.trace import Trace, trace
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config

RAGGED = [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0]), torch.tensor([6.0])]
UNSORTED = Batch.parse("1 2 3\n4 5\n6 7 8 9")  # sorted: C, A, B
STARTS, RANK, LENGTHS = [0, 3, 6, 8], [1, 2, 0], [3, 2, 4]  # of UNSORTED: first row of each time step, places, lengths

both_ways = pytest.mark.parametrize("backward", [False, True])


# Padding


@pytest.mark.parametrize(
    ("side", "tokens", "mask"),
    [
        ("right", [[1, 2, 3], [4, 5, 9], [6, 9, 9]], [[1, 1, 1], [1, 1, 0], [1, 0, 0]]),
        ("left", [[1, 2, 3], [9, 4, 5], [9, 9, 6]], [[1, 1, 1], [0, 1, 1], [0, 0, 1]]),
    ],
)
def test_the_grid_has_a_row_for_each_sequence_and_pads_on_its_side(side: Any, tokens: Any, mask: Any) -> None:
    padded = pad(RAGGED, padding_value=9.0, padding_side=side)
    assert padded.tokens.tolist() == tokens
    assert padded.mask.int().tolist() == mask
    assert padded.lengths.tolist() == [3, 2, 1]
    padded.tokens.add_(1)
    assert [sequence.tolist() for sequence in RAGGED] == [[1, 2, 3], [4, 5], [6]]


# Sorting and packing


def test_rows_stand_time_step_after_time_step_and_the_longest_sequence_first() -> None:
    t = trace(UNSORTED)
    assert t.packed.data.flatten().tolist() == [6, 1, 4, 7, 2, 5, 8, 3, 9]
    assert t.packed.sequence.tolist() == [2, 0, 1, 2, 0, 1, 2, 0, 2]
    assert t.packed.timestep.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3]
    assert t.packed.batch_sizes.tolist() == [3, 3, 2, 1]
    assert t.packed.offsets.tolist() == STARTS
    assert t.sorted.lengths.tolist() == [4, 3, 2]
    assert t.sorted.order.tolist() == [2, 0, 1]
    assert t.sorted.rank.tolist() == RANK


# The recurrence

CELLS_OF_TORCH: dict[Any, Any] = {"rnn": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}
each_cell = pytest.mark.parametrize("cell", CELLS_OF_TORCH)


def run(cell: Any = "gru") -> Trace:
    return trace(UNSORTED, Config(cell=cell, hidden_size=5, bidirectional=True, initial_state="random"))


def states_of(direction: Direction) -> list[tuple[str, Tensor, Tensor]]:
    """Return name, rows and initial state of h and, for the LSTM, of c."""
    c = [] if direction.c is None or direction.c_0 is None else [("c", direction.c, direction.c_0)]
    return [("h", direction.h, direction.h_0), *c]


def test_steps_go_through_the_packed_rows_forward_and_backward() -> None:
    forward, backward = run().layers[0]
    steps = [forward.step(k) for k in range(4)]
    assert [(step.t, step.start, step.stop) for step in steps] == [(0, 0, 3), (1, 3, 6), (2, 6, 8), (3, 8, 9)]
    assert [step.live for step in steps] == [(2, 0, 1), (2, 0, 1), (2, 0), (2,)]
    assert [step.began for step in steps] == [(2, 0, 1), (), (), ()]
    assert [step.ended for step in steps] == [(), (1,), (0,), (2,)]
    steps = [backward.step(k) for k in range(4)]
    rows = [slice(8, 9), slice(6, 8), slice(3, 6), slice(0, 3)]
    assert [(step.k, step.t, step.rows) for step in steps] == list(zip(range(4), (3, 2, 1, 0), rows, strict=True))
    assert [step.live for step in steps] == [(2,), (2, 0), (2, 0, 1), (2, 0, 1)]
    assert [step.began for step in steps] == [(2,), (0,), (1,), ()]
    assert [step.ended for step in steps] == [(), (), (), (2, 0, 1)]


@pytest.mark.parametrize("k", [-1, 4])
def test_there_is_no_step_outside_the_run(k: int) -> None:
    with pytest.raises(IndexError, match="4 time steps"):
        run().layers[0][0].step(k)


@both_ways
def test_a_single_sequence_of_one_step_begins_and_ends_at_once(backward: bool) -> None:
    direction = trace(Batch.parse("1"), Config(bidirectional=True)).layers[0][backward]
    step = direction.step(0)
    assert step.live == step.began == step.ended == (0,)
    assert torch.equal(direction.h, direction.h_n)


@each_cell
@both_ways
def test_a_state_enters_from_the_step_before_or_from_the_initial_state_and_ends_as_final(
    cell: str, backward: bool
) -> None:
    direction = run(cell).layers[0][backward]
    for name, rows, initial in states_of(direction):
        for k in range(4):
            step, entering = direction.step(k), direction.before(k)["hc".index(name)]
            earlier = step.t + 1 if backward else step.t - 1
            assert entering is not None
            for place, b in enumerate(step.live):
                expected = initial[b] if b in step.began else rows[STARTS[earlier] + RANK[b]]
                assert torch.equal(entering[place], expected)
        last = [STARTS[0 if backward else length - 1] + place for length, place in zip(LENGTHS, RANK, strict=True)]
        assert torch.equal(rows[last], direction.h_n if direction.c_n is None or name == "h" else direction.c_n)


def test_reading_the_gates_cannot_change_the_record() -> None:
    direction = run().layers[0][0]
    direction.gates.clear()
    assert list(direction.gates) == ["r", "z", "n"]


# Unpacking
