"""What pads: tokens that equal it, lengths counted without it, its row of the embedding, how far it moves a state."""

from typing import Any

import pytest
import torch
from facts_cases import alone, bound, made, refused, studied
from seeds import all_of_them, seeds
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from packviz import Trace, trace_module
from packviz.compute.record import Refusal
from packviz.facts import after_zero_vector, drift, pad_collision, pad_row
from packviz.facts.padded_run import pad_input
from packviz.facts.pads import PadCollision


def test_the_cells_named_are_the_tokens_that_equal_the_pad(seen: Trace) -> None:
    found, x = pad_collision(seen), seen.padded.grid
    if seen.batch is not None and seen.config is not None:
        x = pad_sequence(list(seen.batch.sequences), True, found.pad, seen.config.padding_side)
    assert found.counted == tuple(eval(found.code, {"x": x}).tolist())
    assert found.lengths == tuple(seen.padded.lengths.tolist())
    assert found.wrong == tuple(b for b in range(len(x)) if found.counted[b] != found.lengths[b])
    real = map(tuple, seen.padded.mask.nonzero().tolist())
    cells = [cell for cell in real if bool((seen.padded.tokens[cell] == found.pad).all())]
    assert list(found.cells) == cells
    assert bool(cells) == ("equal" in found.sentence)
    if seen.config is not None:  # each such token is missing from the count, and nothing else is
        missing = [sum(b == other for other, _ in cells) for b in range(len(x))]
        assert [n - k for n, k in zip(found.lengths, missing, strict=True)] == list(found.counted)


LUCK = "Nothing is lost in this batch, but only by luck: no token is -1."
SAFE = "Nothing is lost: words get ids from 1 on, and no word has the padding id 0."
TRAINED = "With padding_idx, the embedding of such a token is zeros and is never trained."
THREE = "3 real tokens equal the pad, 0: A at t = 0, B at t = 1 and B at t = 2."
COUNTED = "(x != 0).sum(1) counts 1 for A (length 2) and 1 for B (length 3)."


@pytest.mark.parametrize(
    ("text", "settings", "cells", "told"),
    [
        ("0 1\n2 0 0\n3", {}, [(0, 0), (1, 1), (1, 2)], f"{THREE} {COUNTED}"),
        ("0 1\n2 0 0\n3", {"padding_value": 3.0}, [(2, 0)], "1 real token equals the pad, 3: C at t = 0."),
        ("0 1\n2 0 0\n3", {"padding_value": -1.0}, [], LUCK),
        ("0.1 2\n3", {"padding_value": 0.1}, [(0, 0)], "1 real token equals the pad, 0.1:"),  # as float32 rounds it
        ("[[[0, 0], [0, 2]], [[3, 0]]]", {}, [(0, 0)], "1 real token equals"),  # a vector: every feature must be 0
        ("[[[0, 0], [0, 2]], [[3, 0]]]", {}, [(0, 0)], "(x != 0).any(2).sum(1) counts 1 for A (length 2)."),
        ("on your mark\ngo", {}, [], SAFE),
        ("on your mark\ngo", {"padding_idx": 2}, [(0, 1)], TRAINED),
        ("1 0 2\n3", {"embedding_dim": 2}, [(0, 1)], "1 real token equals the pad, id 0: A at t = 1."),
        ("0 0 0 0 0 0 0\n1", {}, [(0, t) for t in range(7)], "A at t = 3, A at t = 4 and 2 more."),
    ],
)
def test_what_is_lost_is_told(text: str, settings: dict[str, Any], cells: list[Any], told: str) -> None:
    found = pad_collision(made(text, **settings))
    assert list(found.cells) == cells
    assert told in found.sentence
    assert bool(found.wrong) == bool(cells)
    assert ("never trained" in found.sentence) == (told == TRAINED)


def test_a_padded_grid_of_your_own_names_its_pads() -> None:
    def found(*rows: list[float], lengths: list[int]) -> PadCollision:
        return pad_collision(trace_module(nn.GRU(1, 2, batch_first=True), torch.tensor(rows).unsqueeze(2), lengths))

    known = found([7.0, 1.0], [2.0, 7.0], lengths=[2, 1])
    assert (known.pad, known.cells, known.counted) == (7.0, ((0, 0),), (1, 1))
    mixed = found([7.0, 1.0, 2.0], [2.0, 7.0, 8.0], lengths=[3, 1])
    assert (mixed.pad, mixed.cells, mixed.counted, mixed.wrong) == (0.0, (), (3, 3), (1,))
    assert mixed.sentence.startswith("The grid is not padded with 0 everywhere.")
    none = found([1.0, 1.0], [1.0, 1.0], lengths=[2, 2])
    assert (none.pad, none.cells, none.wrong) == (0.0, (), ())
    assert pad_collision(refused()).cells == ((0, 0), (1, 2))


def test_the_pads_row_is_the_embeddings_own(seen: Trace) -> None:
    if seen.padded.embedding is None or seen.config is None:
        return
    row = pad_input(seen)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seen.config.seed)
        V, E = seen.padded.embedding.shape
        sizes = (E, seen.config.hidden_size, seen.config.num_layers)
        getattr(nn, seen.config.cell.upper())(*sizes, bias=seen.config.bias, bidirectional=seen.config.bidirectional)
        table = nn.Embedding(V, E, padding_idx=seen.config.padding_idx).weight
    assert torch.equal(row, table[seen.config.padding_idx or 0])
    assert bool(row.any()) == (seen.config.padding_idx is None) == ("is random" in pad_row(seen.config))


def test_the_state_after_k_pads_is_torchs_own_over_the_tokens_and_k_pads(seen: Trace) -> None:
    done, D = drift(seen, 5), 2 if seen.module.bidirectional else 1
    for b in range(min(4, len(seen.padded.lengths))):
        states = [alone(seen, b, done.pad.expand(k, -1))[1][0][-D] for k in range(6)]
        torch.testing.assert_close(done.states[b], torch.stack(states), atol=bound(seen, *states), rtol=0)
        norms = [float((state - states[0]).norm()) for state in states]
        assert done.distances[b].tolist() == pytest.approx(norms, abs=10 * bound(seen, *states), rel=1e-4)


@all_of_them
def test_a_pad_enters_the_cell_as_it_stands_in_the_grid() -> None:
    alike = 0
    for trace in map(studied, range(20)):
        pads = trace.padded.grid[~trace.padded.mask]
        if len(pads) and bool((pads == pads[0]).all()):
            alike += 1
            assert torch.equal(pad_input(trace), pads[0])
        elif trace.config is None:
            assert not pad_input(trace).any()
    assert alike >= 2


@pytest.mark.parametrize("pads", [1, 2, 3, 11, 12, 50, 120])
def test_the_record_holds_which_numbers_of_pads_were_run(pads: int) -> None:
    trace = made("1 2 3\n4", bidirectional=True, num_layers=2)
    done, every = drift(trace, pads), drift(made("1 2 3\n4", bidirectional=True), pads)
    assert every.pads == tuple(range(pads + 1))
    assert done.pads == tuple(sorted(set(done.pads)))
    assert {0, 1, pads - 1, pads} <= set(done.pads)
    theirs = [[alone(trace, b, done.pad.expand(k, -1))[1][0][-2] for k in done.pads] for b in range(2)]
    torch.testing.assert_close(done.states, torch.stack([*map(torch.stack, theirs)]), atol=1e-5, rtol=0)


def test_the_states_before_and_after_zeros_are_torchs(seen: Trace) -> None:
    b, D = len(seen.padded.lengths) // 2, 2 if seen.module.bidirectional else 1
    step, zero = after_zero_vector(seen, b), torch.zeros_like(seen.padded.grid[0, :1])
    states = torch.stack([alone(seen, b, zero.expand(k, -1))[1][0][-D] for k in (0, 1, 50)]).double()
    torch.testing.assert_close(torch.tensor(step.states, dtype=torch.double), states, rtol=1e-4, atol=1e-5)
    moved = torch.cat([states[:1], states[1:] - states[0]])
    assert step.norms == pytest.approx(moved.norm(dim=1).tolist(), rel=1e-4, abs=1e-5)


def test_a_zero_vector_moves_a_gru_and_leaves_a_dead_relu() -> None:
    step = after_zero_vector(made(), 1)
    assert step.norms[1] > 0.01
    assert step.sentence.startswith("After its 2 tokens, B's h has norm ")
    assert f"moves h by {step.norms[1]:.3g}" in step.sentence
    assert after_zero_vector(made("1\n2 3")).sentence.startswith("After its one token, A's h has norm")
    relu = {"cell": "rnn", "nonlinearity": "relu", "hidden_size": 1, "bias": False}
    dead = next(seen for seed in seeds(100) if not (seen := made("1 2", **relu, seed=seed)).h_n.any())
    assert after_zero_vector(dead).norms == (0.0, 0.0, 0.0)
    assert "leaves it unchanged" in after_zero_vector(dead).sentence


@pytest.mark.parametrize("initial_state", ["zeros", "random", "learned"])
def test_for_refused_lengths_the_step_is_that_of_the_sorted_run(initial_state: str) -> None:
    text, settings = "1\n2 3 4", {"cell": "lstm", "initial_state": initial_state}
    ended, ran = made(text, enforce_sorted=True, **settings), made(text, **settings)
    assert isinstance(ended, Refusal)
    assert after_zero_vector(ended, 1) == after_zero_vector(ran, 1)
