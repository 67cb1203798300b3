import pytest
import torch
from torch import Tensor, nn

from packviz.compute.recurrence import Direction, run_direction, schedule
from packviz.inputs.module import Weights

LENGTHS, ORDER, RANK, BATCH_SIZES = [3, 2, 4], [2, 0, 1], [1, 2, 0], [3, 3, 2, 1]
N, F, H = 9, 2, 5
MODES = {"RNN_TANH": 1, "GRU": 3, "LSTM": 4}


def run(mode: str = "GRU", *, backward: bool = False, projected: int | None = None) -> Direction:
    torch.manual_seed(0)
    P, G = projected or H, MODES[mode]
    plan = schedule(*map(torch.tensor, (BATCH_SIZES, LENGTHS, ORDER, RANK)))
    weights = Weights(
        torch.randn(G * H, F),
        torch.randn(G * H, P),
        torch.randn(G * H),
        torch.randn(G * H),
        torch.randn(P, H) if projected else None,
    )
    initial = (torch.randn(3, P), torch.randn(3, H)) if mode == "LSTM" else (torch.randn(3, P),)
    return run_direction(torch.randn(N, F), weights, mode, plan, initial, backward=backward)


def rows_of(b: int) -> list[int]:
    """Return the packed rows of sequence b, one a time step."""
    starts = [0, 3, 6, 8]
    return [starts[t] + RANK[b] for t in range(LENGTHS[b])]


def test_forward_steps_go_through_the_packed_rows_from_first_to_last() -> None:
    steps = [run().step(k) for k in range(4)]
    assert [(step.t, step.start, step.stop) for step in steps] == [(0, 0, 3), (1, 3, 6), (2, 6, 8), (3, 8, 9)]
    assert [step.live for step in steps] == [(2, 0, 1), (2, 0, 1), (2, 0), (2,)]
    assert [step.began for step in steps] == [(2, 0, 1), (), (), ()]
    assert [step.ended for step in steps] == [(), (1,), (0,), (2,)]


def test_backward_steps_begin_with_the_longest_sequence_alone() -> None:
    steps = [run(backward=True).step(k) for k in range(4)]
    assert [(step.k, step.t, step.rows) for step in steps] == [
        (0, 3, slice(8, 9)),
        (1, 2, slice(6, 8)),
        (2, 1, slice(3, 6)),
        (3, 0, slice(0, 3)),
    ]
    assert [step.live for step in steps] == [(2,), (2, 0), (2, 0, 1), (2, 0, 1)]
    assert [step.began for step in steps] == [(2,), (0,), (1,), ()]
    assert [step.ended for step in steps] == [(), (), (), (2, 0, 1)]


@pytest.mark.parametrize("k", [-1, 4])
def test_there_is_no_step_outside_the_run(k: int) -> None:
    with pytest.raises(IndexError, match="4 time steps"):
        run().step(k)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("backward", [False, True])
def test_the_last_state_is_the_row_of_the_last_step(mode: str, backward: bool) -> None:
    direction = run(mode, backward=backward)
    for b in range(3):
        row = rows_of(b)[0 if backward else -1]
        assert torch.equal(direction.h_n[b], direction.h[row])
        if direction.c is not None:
            assert torch.equal(direction.c_n[b], direction.c[row])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("backward", [False, True])
def test_the_state_that_enters_a_step_is_that_of_the_step_before_or_the_initial_one(mode: str, backward: bool) -> None:
    spoke = 0
    direction = run(mode, backward=backward)
    for k in range(direction.steps):
        step, entering = direction.step(k), direction.before(k)
        for place, b in enumerate(step.live):
            earlier = step.t + 1 if backward else step.t - 1
            is_first = b in step.began
            for state, rows, initial in (
                (entering[0], direction.h, direction.h_0),
                (entering[1], direction.c, direction.c_0),
            ):
                if rows is not None:
                    spoke += 1
                    assert torch.equal(state[place], initial[b] if is_first else rows[rows_of(b)[earlier]])
    assert spoke


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_one_step_from_the_entering_state_gives_the_recorded_rows(mode: str, backward: bool) -> None:
    direction = run(mode, backward=backward)
    torch.manual_seed(0)
    w_ih, w_hh, b_ih, b_hh = (torch.randn(MODES[mode] * H, *rest) for rest in ((F,), (H,), (), ()))
    [torch.randn(3, H) for _ in range(2 if mode == "LSTM" else 1)]
    data = torch.randn(N, F)
    cell: nn.RNNCellBase = {"RNN_TANH": nn.RNNCell, "GRU": nn.GRUCell, "LSTM": nn.LSTMCell}[mode](F, H)
    cell.load_state_dict({"weight_ih": w_ih, "weight_hh": w_hh, "bias_ih": b_ih, "bias_hh": b_hh})
    for k in range(direction.steps):
        h, c = direction.before(k)
        rows = direction.step(k).rows
        with torch.no_grad():
            after = cell(data[rows], (h, c) if c is not None else h)
        torch.testing.assert_close(direction.h[rows], after[0] if c is not None else after, rtol=1e-5, atol=1e-5)


def test_a_projection_narrows_h_but_not_c() -> None:
    direction = run("LSTM", projected=2)
    assert direction.h.shape == (N, 2)
    assert direction.c.shape == direction.gates["i"].shape == (N, H)
    assert direction.h_n.shape == direction.h_0.shape == (3, 2)
    assert direction.before(1)[0].shape == (3, 2)


def test_the_initial_state_stands_in_the_order_in_which_the_sequences_came() -> None:
    direction = run()
    assert torch.equal(direction.before(0)[0], direction.h_0[ORDER])


def test_a_single_sequence_of_one_step_begins_and_ends_at_once() -> None:
    one = torch.ones(1, dtype=torch.int64)
    plan = schedule(one, one, one - 1, one - 1)
    weights = Weights(torch.randn(H, F), torch.randn(H, H))
    for backward in (False, True):
        initial = (torch.zeros(1, H),)
        direction = run_direction(torch.randn(1, F), weights, "RNN_TANH", plan, initial, backward=backward)
        step = direction.step(0)
        assert step.live == step.began == step.ended == (0,)
        assert torch.equal(direction.h, direction.h_n)


def test_reading_the_gates_cannot_change_the_record() -> None:
    direction = run()
    direction.gates.clear()
    assert list(direction.gates) == ["r", "z", "n"]


def test_packed_rows_are_not_changed_by_the_run() -> None:
    data: Tensor = torch.randn(N, F)
    copy = data.clone()
    plan = schedule(*map(torch.tensor, (BATCH_SIZES, LENGTHS, ORDER, RANK)))
    run_direction(
        data, Weights(torch.randn(H, F), torch.randn(H, H)), "RNN_RELU", plan, (torch.zeros(3, H),), backward=True
    )
    assert torch.equal(data, copy)
