"""What pads: tokens that equal it, the lengths that a count without it would give, and its row of the embedding."""

from typing import Any

import pytest
import torch
from facts_cases import each_seed, made, refused, studied
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from packviz import trace_module
from packviz.facts import pad_collision, pad_row
from packviz.facts.pads import PadCollision


@each_seed
def test_the_count_is_the_codes_own_and_the_cells_are_the_tokens_that_equal_the_pad(seed: int) -> None:
    seen = studied(seed)
    found, x = pad_collision(seen), seen.padded.grid
    if seen.batch is not None and seen.config is not None:
        x = pad_sequence(list(seen.batch.sequences), True, found.pad, seen.config.padding_side)
    assert found.counted == tuple(eval(found.code, {"x": x}).tolist())
    assert found.lengths == tuple(seen.padded.lengths.tolist())
    assert found.wrong == tuple(b for b in range(len(x)) if found.counted[b] != found.lengths[b])
    cells = [
        (b, t)
        for b, t in seen.padded.mask.nonzero().tolist()
        if all(number == found.pad for number in seen.padded.tokens[b, t].flatten().tolist())
    ]
    assert list(found.cells) == cells
    assert bool(cells) == ("equal" in found.sentence)
    if seen.config is not None:  # each such token is missing from the count, and nothing else is
        assert found.counted == tuple(
            length - sum(b == other for other, _ in cells) for b, length in enumerate(found.lengths)
        )


LUCK = "Nothing is lost in this batch, but only by luck: no token is -1."
SAFE = "Nothing is lost: words get ids from 1 on, and no word has the padding id 0."
TRAINED = "With padding_idx, the embedding of such a token is zeros and is never trained."


@pytest.mark.parametrize(
    ("text", "settings", "cells", "told"),
    [
        (
            "0 1\n2 0 0\n3",
            {},
            [(0, 0), (1, 1), (1, 2)],
            "3 real tokens equal the pad, 0: A at t = 0, B at t = 1 and B at t = 2. "
            "(x != 0).sum(1) counts 1 for A (length 2) and 1 for B (length 3).",
        ),
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


def test_a_grid_of_your_own_tells_what_pads_it_and_0_is_assumed_where_it_does_not() -> None:
    def found(*rows: list[float], lengths: list[int]) -> PadCollision:
        return pad_collision(trace_module(nn.GRU(1, 2, batch_first=True), torch.tensor(rows).unsqueeze(2), lengths))

    known = found([7.0, 1.0], [2.0, 7.0], lengths=[2, 1])
    assert (known.pad, known.cells, known.counted) == (7.0, ((0, 0),), (1, 1))
    mixed = found([7.0, 1.0, 2.0], [2.0, 7.0, 8.0], lengths=[3, 1])
    assert (mixed.pad, mixed.cells, mixed.counted, mixed.wrong) == (0.0, (), (3, 3), (1,))
    assert mixed.sentence.startswith("The grid is not padded with 0 everywhere.")
    none = found([1.0, 1.0], [1.0, 1.0], lengths=[2, 2])
    assert (none.pad, none.cells, none.wrong) == (0.0, (), ())


def test_it_works_where_torch_refused_the_lengths() -> None:
    assert pad_collision(refused()).cells == ((0, 0), (1, 2))
    assert pad_row(refused()) is None
    assert pad_row(made("a\nb c", enforce_sorted=True)) is not None


@each_seed
def test_the_pads_row_is_the_embeddings_own(seed: int) -> None:
    seen = studied(seed)
    row = pad_row(seen)
    if seen.padded.embedding is None or seen.config is None:
        assert row is None
        return
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seen.config.seed)
        V, E = seen.padded.embedding.shape
        table = nn.Embedding(V, E, padding_idx=seen.config.padding_idx).weight
    assert row is not None
    assert row.row == tuple(table[seen.config.padding_idx or 0].tolist())
    assert any(row.row) == (seen.config.padding_idx is None)
