import pytest
import torch

from packviz.compute.padding import pad, read_padded

RAGGED = [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0]), torch.tensor([6.0])]


def test_the_grid_has_a_row_for_each_sequence_and_pads_at_the_right() -> None:
    padded = pad(RAGGED, padding_value=9.0)
    assert padded.tokens.tolist() == [[1, 2, 3], [4, 5, 9], [6, 9, 9]]
    assert padded.mask.tolist() == [[True, True, True], [True, True, False], [True, False, False]]
    assert padded.lengths.tolist() == [3, 2, 1]


def test_padding_on_the_left_puts_tokens_and_mask_at_the_right() -> None:
    padded = pad(RAGGED, padding_side="left")
    assert padded.tokens.tolist() == [[1, 2, 3], [0, 4, 5], [0, 0, 6]]
    assert padded.mask.tolist() == [[True, True, True], [False, True, True], [False, False, True]]


def test_numbers_enter_the_cell_with_one_feature() -> None:
    padded = pad(RAGGED)
    assert padded.values.shape == (3, 3, 1)
    assert torch.equal(padded.values.squeeze(-1), padded.tokens)


def test_vectors_keep_their_features() -> None:
    padded = pad([torch.ones(2, 4), torch.ones(3, 4)])
    assert padded.tokens.shape == padded.values.shape == (2, 3, 4)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("features", [(), (4,)])
def test_time_first_values_are_the_same_grid_turned_round(side: str, features: tuple[int, ...]) -> None:
    sequences = [torch.randn(length, *features) for length in (2, 5, 1)]
    by_time = pad(sequences, batch_first=False, padding_value=0.5, padding_side=side)
    by_batch = pad(sequences, batch_first=True, padding_value=0.5, padding_side=side)
    assert by_time.values.shape[:2] == (5, 3)
    assert torch.equal(by_time.grid, by_batch.grid)
    assert torch.equal(by_time.tokens, by_batch.tokens)


@pytest.mark.parametrize("batch_first", [True, False])
def test_ids_are_looked_up_in_the_embedding(batch_first: bool) -> None:
    table = torch.randn(7, 3)
    padded = pad([torch.tensor([6, 1]), torch.tensor([2])], batch_first=batch_first, padding_value=5, embedding=table)
    assert padded.tokens.tolist() == [[6, 1], [2, 5]]
    assert torch.equal(padded.grid, table[padded.tokens])


@pytest.mark.parametrize("batch_first", [True, False])
def test_a_padded_tensor_is_read_as_it_is(batch_first: bool) -> None:
    x = torch.randn(2, 3, 4)
    padded = read_padded(x, torch.tensor([1, 3] if batch_first else [2, 1, 2]), batch_first=batch_first)
    assert padded.values is x
    assert torch.equal(padded.grid, x if batch_first else x.transpose(0, 1))
    assert padded.mask.sum(1).tolist() == padded.lengths.tolist()


def test_the_sequences_stay_as_they_were() -> None:
    sequences = [torch.tensor([1.0, 2.0]), torch.tensor([3.0])]
    pad(sequences).tokens.add_(1)
    assert [sequence.tolist() for sequence in sequences] == [[1, 2], [3]]
