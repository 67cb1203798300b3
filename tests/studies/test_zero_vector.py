"""A step of zeros moves the state just as torch's own module moves it."""

import copy
from typing import Any

import pytest
import torch
from seeds import seeds
from study_cases import SEEDS, made, refused, studied
from torch import Tensor, nn

from packviz.compute.trace import Trace
from packviz.errors import PackvizError
from packviz.facts.zero_vector import after_zero_vector, pad_row


def torch_states(seen: Trace, b: int) -> list[Tensor]:
    """Return the top layer's forward h after the sequence, after one and after fifty zeros more; unpacked input."""
    module = copy.deepcopy(seen.module).eval()
    module.batch_first = True
    x = seen.padded.grid[b][seen.padded.mask[b]].unsqueeze(0)
    hx: Any = seen.h_0[:, b : b + 1].contiguous()
    if seen.c_0 is not None:
        hx = hx, seen.c_0[:, b : b + 1].contiguous()
    states = []
    for zeros in (0, 1, 50):
        with torch.no_grad():
            _, state = module(torch.cat([x, x.new_zeros(1, zeros, x.size(2))], 1), hx)
        h_n = state[0] if isinstance(state, tuple) else state
        states.append(h_n.view(module.num_layers, -1, h_n.size(2))[-1, 0])
    return states


@pytest.mark.parametrize("seed", SEEDS)
def test_the_states_are_torchs(seed: int) -> None:
    seen = studied(seed)
    b = seed % len(seen.padded.lengths)
    step = after_zero_vector(seen, b)
    for ours, theirs in zip((step.before, step.after, step.later), torch_states(seen, b), strict=True):
        torch.testing.assert_close(torch.tensor(ours, dtype=theirs.dtype), theirs, rtol=1e-4, atol=1e-5)
    before, after, later = (torch.tensor(h, dtype=torch.float64) for h in (step.before, step.after, step.later))
    distances = (float(before.norm()), float((after - before).norm()), float((later - before).norm()))
    assert step.norms == pytest.approx(distances, rel=1e-4, abs=1e-6)
    assert step.moved == step.norms[1]
    assert step.length == seen.padded.lengths[b]


@pytest.mark.parametrize("seed", SEEDS)
def test_without_the_zeros_it_is_the_traces_own_final_state(seed: int) -> None:
    seen = studied(seed)
    if bool(seen.packed_is_pad.any()):
        return  # the trace packed pads, as after padding on the left: its states have seen them
    b = seed % len(seen.padded.lengths)
    top = seen.h_n.view(seen.module.num_layers, -1, *seen.h_n.shape[1:])[-1, 0, b]
    before = torch.tensor(after_zero_vector(seen, b).before, dtype=top.dtype)
    torch.testing.assert_close(before, top, rtol=1e-4, atol=1e-5)


def test_a_zero_vector_moves_a_gru() -> None:
    step = after_zero_vector(made(), 1)
    assert step.moved > 0.01
    assert step.told.startswith("After its 2 tokens the norm of B's h is ")
    assert f"moves h by {step.moved:.3g}" in step.told
    assert after_zero_vector(made("1\n2 3")).told.startswith("After its one token the norm of A's h")


def test_a_dead_relu_stays_and_the_sentence_says_so() -> None:
    seen = next(
        seen
        for seed in seeds(100)
        if not (seen := made("1 2", cell="rnn", nonlinearity="relu", hidden_size=1, bias=False, seed=seed)).h_n.any()
    )
    step = after_zero_vector(seen)
    assert step.norms == (0.0, 0.0, 0.0)
    assert "leaves this h as it is" in step.told


@pytest.mark.parametrize("b", [-1, 3, True, 1.0, "A", None])
def test_a_sequence_that_is_not_there_is_refused(b: Any) -> None:
    with pytest.raises(PackvizError, match="from 0 to 2"):
        after_zero_vector(made(), b)


@pytest.mark.parametrize("initial_state", ["zeros", "random", "learned"])
def test_where_torch_refused_the_lengths_the_step_is_that_of_the_sorted_run(initial_state: Any) -> None:
    text, settings = "1\n2 3 4", {"cell": "lstm", "initial_state": initial_state}
    ended, ran = made(text, enforce_sorted=True, **settings), made(text, **settings)
    assert ended.error
    assert after_zero_vector(ended, 1) == after_zero_vector(ran, 1)


def test_the_pads_row_is_zeros_only_with_padding_idx() -> None:
    assert pad_row(made()) is None
    drawn = pad_row(made("on your mark\ngo"))
    assert drawn is not None
    assert not drawn.is_zero
    assert "random" in drawn.told
    kept = pad_row(made("on your mark\ngo", padding_idx=2))
    assert kept is not None
    assert kept.is_zero
    assert kept.told.startswith("padding_idx = 2: row 2 is zeros")


@pytest.mark.parametrize("seed", SEEDS)
def test_the_pads_row_is_the_embeddings_own(seed: int) -> None:
    seen = studied(seed)
    row = pad_row(seen)
    if seen.padded.embedding is None or seen.config is None:
        assert row is None
        return
    assert row is not None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seen.config.seed)
        table = nn.Embedding(*seen.padded.embedding.shape, padding_idx=seen.config.padding_idx).weight
    assert row.row == tuple(table[seen.config.padding_idx or 0].tolist())
    assert row.is_zero == (seen.config.padding_idx is not None)


def test_pads_in_a_refused_batch_have_their_row_too() -> None:
    assert pad_row(refused()) is None
    assert pad_row(made("a\nb c", enforce_sorted=True)) is not None
