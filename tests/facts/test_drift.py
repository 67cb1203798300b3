"""How far the state moves on pads and on zeros, found again by running torch over the tokens and what follows them."""

import pytest
import torch
from facts_cases import SEEDS, alone, bound, each_seed, made, studied
from seeds import all_of_them, seeds

from packviz.facts import after_zero_vector, drift
from packviz.facts.padded_run import pad_input


@each_seed
def test_the_state_after_k_pads_is_torchs_own_over_the_tokens_and_k_pads(seed: int) -> None:
    trace = studied(seed)
    done, D = drift(trace, 5), 2 if trace.module.bidirectional else 1
    for b in range(min(4, len(trace.padded.lengths))):
        states = [alone(trace, b, done.pad.expand(k, -1))[1][0][-D] for k in range(6)]
        torch.testing.assert_close(done.states[b], torch.stack(states), atol=bound(trace, *states), rtol=0)
        norms = [float((state - states[0]).norm()) for state in states]
        assert done.distances[b].tolist() == pytest.approx(norms, abs=10 * bound(trace, *states), rel=1e-4)


@all_of_them
def test_a_pad_enters_the_cell_as_it_stands_in_the_grid() -> None:
    alike = 0
    for seed in SEEDS:
        trace = studied(seed)
        pads = trace.padded.grid[~trace.padded.mask]
        if len(pads) and bool((pads == pads[0]).all()):
            alike += 1
            assert torch.equal(pad_input(trace), pads[0])
        elif trace.config is None:
            assert not pad_input(trace).any()
    assert alike >= len(SEEDS) / 10


@pytest.mark.parametrize("pads", [1, 2, 3, 11, 12, 50, 120])
def test_the_record_holds_which_numbers_of_pads_were_run(pads: int) -> None:
    trace = made("1 2 3\n4", bidirectional=True, num_layers=2)
    done, every = drift(trace, pads), drift(made("1 2 3\n4", bidirectional=True), pads)
    assert every.pads == tuple(range(pads + 1))
    assert done.pads == tuple(sorted(set(done.pads)))
    assert {0, 1, pads - 1, pads} <= set(done.pads)
    for b in range(2):
        for k, state in zip(done.pads, done.states[b], strict=True):
            torch.testing.assert_close(state, alone(trace, b, done.pad.expand(k, -1))[1][0][-2], atol=1e-5, rtol=0)


@each_seed
def test_the_states_before_and_after_zeros_are_torchs(seed: int) -> None:
    trace = studied(seed)
    b, D = seed % len(trace.padded.lengths), 2 if trace.module.bidirectional else 1
    step, zero = after_zero_vector(trace, b), torch.zeros_like(trace.padded.grid[0, :1])
    states = [alone(trace, b, zero.expand(k, -1))[1][0][-D] for k in (0, 1, 50)]
    for ours, theirs in zip(step.states, states, strict=True):
        torch.testing.assert_close(torch.tensor(ours, dtype=theirs.dtype), theirs, rtol=1e-4, atol=1e-5)
    before, after, later = (state.double() for state in states)
    norms = (float(before.norm()), float((after - before).norm()), float((later - before).norm()))
    assert step.norms == pytest.approx(norms, rel=1e-4, abs=1e-5)
    assert step.length == trace.padded.lengths[b]


def test_a_zero_vector_moves_a_gru_and_leaves_a_dead_relu() -> None:
    step = after_zero_vector(made(), 1)
    assert step.norms[1] > 0.01
    assert step.sentence.startswith("After its 2 tokens, B's h has the norm ")
    assert f"moves h by {step.norms[1]:.3g}" in step.sentence
    assert after_zero_vector(made("1\n2 3")).sentence.startswith("After its one token, A's h has the norm")
    relu = {"cell": "rnn", "nonlinearity": "relu", "hidden_size": 1, "bias": False}
    dead = next(seen for seed in seeds(100) if not (seen := made("1 2", **relu, seed=seed)).h_n.any())
    assert after_zero_vector(dead).norms == (0.0, 0.0, 0.0)
    assert "leaves it unchanged" in after_zero_vector(dead).sentence


@pytest.mark.parametrize("initial_state", ["zeros", "random", "learned"])
def test_where_torch_refused_the_lengths_the_step_is_that_of_the_sorted_run(initial_state: str) -> None:
    text, settings = "1\n2 3 4", {"cell": "lstm", "initial_state": initial_state}
    ended, ran = made(text, enforce_sorted=True, **settings), made(text, **settings)
    assert ended.error
    assert after_zero_vector(ended, 1) == after_zero_vector(ran, 1)
