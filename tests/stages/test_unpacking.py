import pytest
import torch
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.compute.unpacking import Unpacked, unpack

LENGTHS = [3, 2, 4]
LAST, FIRST = torch.tensor([7, 5, 8]), torch.tensor([1, 2, 0])  # packed rows of the last and the first steps


def packed(width: int = 1) -> PackedSequence:
    """Return rows that carry their own number, 0 to 8, in each of their columns (+ 100 in the second)."""
    rows = torch.arange(9.0).unsqueeze(1) + torch.tensor([0.0, 100.0])[:width]
    return pack_padded_sequence(torch.zeros(3, 4, 1), LENGTHS, True, enforce_sorted=False)._replace(data=rows)


def unpacked(
    width: int = 1, *, batch_first: bool = True, padding_value: float = 0.0, total_length: int | None = None
) -> Unpacked:
    return unpack(
        packed(width),
        batch_first=batch_first,
        padding_value=padding_value,
        total_length=total_length,
        last_rows=LAST,
        first_rows=FIRST,
        directions=width,
    )


def test_rows_fly_back_to_the_sequences_they_came_from() -> None:
    grid = unpacked(padding_value=-1.0)
    assert grid.output.squeeze(-1).tolist() == [[1, 4, 7, -1], [2, 5, -1, -1], [0, 3, 6, 8]]
    assert grid.lengths.tolist() == LENGTHS


def test_time_first_output_is_turned_round() -> None:
    assert torch.equal(unpacked(batch_first=False).output.transpose(0, 1), unpacked().output)


def test_total_length_adds_columns_of_padding() -> None:
    grid = unpacked(total_length=6, padding_value=-1.0)
    assert grid.output.shape == (3, 6, 1)
    assert (grid.output[:, 4:] == -1).all()


def test_the_last_valid_state_is_not_the_last_column() -> None:
    grid = unpacked()
    assert grid.last_valid.flatten().tolist() == [7, 5, 8]
    assert [grid.output[b, length - 1, 0].item() for b, length in enumerate(LENGTHS)] == [7, 5, 8]


def test_the_backward_half_is_final_at_the_first_time_step() -> None:
    assert unpacked(width=2).last_valid.tolist() == [[7, 101], [5, 102], [8, 100]]


def test_torch_refuses_a_total_length_that_is_too_small() -> None:
    with pytest.raises(ValueError, match="total_length=3"):
        unpacked(total_length=3)
