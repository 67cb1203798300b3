"""What pads: tokens that equal it, the lengths that a count without it would give, and its row of the embedding."""

import pytest
import torch
from facts_cases import each_seed, made, refused, studied
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from packviz import Batch, Config, trace, trace_module
from packviz.facts import pad_collision, pad_row


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
    assert bool(cells) == ("equal" in found.told)
    if seen.config is not None:  # each such token is missing from the count, and nothing else is
        assert found.counted == tuple(
            length - sum(b == other for other, _ in cells) for b, length in enumerate(found.lengths)
        )


def test_numbers_with_zeros_are_counted_short() -> None:
    found = pad_collision(made("0 1\n2 0 0\n3"))
    assert found.cells == ((0, 0), (1, 1), (1, 2))
    assert found.counted == (1, 1, 1)
    assert found.told.startswith(
        "3 real tokens equal the pad, 0: A at t = 0, B at t = 1 and B at t = 2. "
        "(x != 0).sum(1) counts 1 for A (length 2) and 1 for B (length 3)."
    )


def test_another_padding_value_confuses_other_tokens() -> None:
    text = "0 1\n2 0 0\n3"
    assert pad_collision(made(text, padding_value=3.0)).cells == ((2, 0),)
    lucky = pad_collision(made(text, padding_value=-1.0))
    assert (lucky.cells, lucky.wrong) == ((), ())
    assert "by luck" in lucky.told


def test_a_vector_is_a_pad_only_where_every_feature_is() -> None:
    found = pad_collision(made("[[[0, 0], [0, 2]], [[3, 0]]]"))
    assert found.code == "(x != 0).any(2).sum(1)"
    assert (found.cells, found.counted) == (((0, 0),), (1, 1))


def test_words_are_safe_with_id_zero_and_lost_with_another() -> None:
    safe = pad_collision(made("on your mark\ngo"))
    assert safe.told == "Nothing is lost: words have ids from 1 on, and no word has the id 0, which pads."
    lost = pad_collision(made("on your mark\ngo", padding_idx=2))
    assert lost.cells == ((0, 1),)
    assert "never trained" in lost.told


def test_an_id_of_zero_is_lost_in_an_embedding() -> None:
    found = pad_collision(made("1 0 2\n3", embedding_dim=2))
    assert found.told.startswith("1 real token equals the pad, id 0: A at t = 1.")
    assert "never trained" not in found.told


def test_a_padding_value_that_float32_rounds_is_found_all_the_same() -> None:
    assert pad_collision(made("0.1 2\n3", padding_value=0.1)).cells == ((0, 0),)
    batch = Batch.from_tensors([torch.tensor([0.1, 2.0], dtype=torch.float64), torch.ones(1, dtype=torch.float64)])
    assert pad_collision(trace(batch, Config(padding_value=0.1))).cells == ((0, 0),)


def test_a_grid_of_your_own_tells_what_pads_it() -> None:
    x = torch.tensor([[[7.0], [1.0]], [[2.0], [7.0]]])
    found = pad_collision(trace_module(nn.GRU(1, 2, batch_first=True), x, [2, 1]))
    assert (found.pad, found.cells, found.counted) == (7.0, ((0, 0),), (1, 1))
    x = torch.tensor([[[7.0], [1.0], [2.0]], [[2.0], [7.0], [8.0]]])
    found = pad_collision(trace_module(nn.GRU(1, 2, batch_first=True), x, [3, 1]))
    assert (found.pad, found.cells, found.counted, found.wrong) == (0.0, (), (3, 3), (1,))
    assert found.told.startswith("The grid is not padded with 0 everywhere.")


def test_only_five_are_named() -> None:
    told = pad_collision(made("0 0 0 0 0 0 0\n1")).told
    assert "A at t = 4 and 2 more." in told
    assert "t = 5" not in told


def test_it_works_where_torch_refused_the_lengths() -> None:
    assert pad_collision(refused()).cells == ((0, 0), (1, 2))
    assert pad_row(refused()) is None
    assert pad_row(made("a\nb c", enforce_sorted=True)) is not None


def test_the_pads_row_is_zeros_only_with_padding_idx() -> None:
    drawn, kept = pad_row(made("on your mark\ngo")), pad_row(made("on your mark\ngo", padding_idx=2))
    assert drawn is not None
    assert "random" in drawn.told
    assert kept is not None
    assert kept.told.startswith("padding_idx = 2: row 2 is zeros")


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


@pytest.mark.parametrize("features", [1, 2])
def test_a_pad_of_a_grid_of_your_own_that_has_none_is_assumed_to_be_zero(features: int) -> None:
    found = pad_collision(trace_module(nn.GRU(features, 2, batch_first=True), torch.ones(2, 3, features), [3, 3]))
    assert (found.pad, found.cells, found.wrong) == (0.0, (), ())
