"""What is in a PackedSequence: the verdicts of the entries, and torch itself as the judge of what they tell."""

import random
from collections.abc import Callable
from dataclasses import replace

import entry_cases
import pytest
import torch
from entry_cases import asking, verdicts
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence

from packviz.questions.answer import answer
from packviz.questions.entries import contents
from packviz.questions.model import Entry

ENTRIES = {entry.key: entry for entry in contents.ENTRIES}
EXPECTED = {
    "time-major": "false",  # 1: all rows of t = 0, then of t = 1
    "batch-sizes-are-not-lengths": "false",  # 2: the conjugate of the lengths
    "batch-sizes-counted": "false",  # 3: not a bug
    "a-row-a-token": "false",  # 4: the sum of the lengths
    "no-size": "false",  # 5
    "four-fields": "false",  # 6
    "len-of-packed": "false",  # 7
    "pointwise-on-data": "false",  # 8
    "embed-before-packing": "false",  # 9
    "cells-on-packed": "depends",  # 10: RNN, GRU and LSTM alone
}
asked = asking(ENTRIES)


def typed(sequences: list[list[int]]) -> str:
    return "\n".join(" ".join(map(str, sequence)) for sequence in sequences)


def random_sequences(seed: int, *, longest_first: bool = False) -> list[list[int]]:
    draw = random.Random(seed)
    lengths = [draw.randint(1, 5) for _ in range(draw.randint(1, 6))]
    if longest_first:
        lengths.sort(reverse=True)
    numbers = iter(range(1, 100))
    return [[next(numbers) for _ in range(length)] for length in lengths]


def packed_by_torch(sequences: list[list[int]]) -> PackedSequence:
    tensors = [torch.tensor(sequence, dtype=torch.float32) for sequence in sequences]
    return entry_cases.packed_by_torch(tensors)


def test_every_row_of_the_group_is_answered() -> None:
    assert set(ENTRIES) == set(EXPECTED)
    assert sorted(row for entry in ENTRIES.values() for row in entry.rows) == list(range(1, 11))


test_the_verdict_is_the_checked_one = verdicts(ENTRIES, EXPECTED)


@pytest.mark.parametrize("seed", range(12))
def test_data_is_the_joined_sequences_only_where_the_order_in_time_is_that_order(seed: int) -> None:
    sequences = random_sequences(seed, longest_first=True)
    rows = packed_by_torch(sequences).data.flatten().tolist()
    joined = [number for sequence in sequences for number in sequence]
    verdict = asked("time-major", typed(sequences)).outcome.verdict
    assert verdict == ("true" if rows == joined else "false")


def test_data_is_the_joined_sequences_where_all_have_length_1() -> None:
    assert asked("time-major", "3\n5\n7").outcome.verdict == "true"


def test_the_marked_cells_are_those_where_torch_packs_another_number() -> None:
    (panels,) = asked("time-major").outcome.chart.of
    rows = packed_by_torch([[1, 2, 3], [4, 5], [6]]).data.flatten().tolist()
    assert panels[1].wrong == {(0, n) for n, row in enumerate(rows) if row != n + 1}
    assert panels[2].texts == (tuple(f"{row:g}" for row in rows),)


@pytest.mark.parametrize("seed", range(12))
def test_batch_sizes_are_the_lengths_only_where_torch_makes_them_so(seed: int) -> None:
    sequences = random_sequences(seed, longest_first=True)
    sizes = packed_by_torch(sequences).batch_sizes.tolist()
    done = asked("batch-sizes-are-not-lengths", typed(sequences))
    assert done.outcome.verdict == ("true" if sizes == [len(s) for s in sequences] else "false")
    assert str(sizes) in done.outcome.told


def test_batch_sizes_are_the_lengths_of_3_2_1_by_chance() -> None:
    assert asked("batch-sizes-are-not-lengths", "1 2 3\n4 5\n6").outcome.verdict == "true"


@pytest.mark.parametrize("seed", range(12))
def test_batch_sizes_count_the_sequences_that_have_a_token_at_t(seed: int) -> None:
    sequences = random_sequences(seed)
    done = asked("batch-sizes-counted", typed(sequences))
    counts = [sum(len(s) > t for s in sequences) for t in range(max(map(len, sequences)))]
    assert done.outcome.verdict == "false"
    assert packed_by_torch(sequences).batch_sizes.tolist() == counts
    assert done.fixed.value == (counts, counts)


def test_a_wrong_count_would_be_found() -> None:
    entry = replace(ENTRIES["batch-sizes-counted"], fixed="[2, 2], [2, 1]")
    assert answer(entry).outcome.cases == {"at t = 0": False, "at t = 1": True}


def test_the_hundred_sequences_of_the_forum_become_818_rows() -> None:
    told = asked("a-row-a-token").outcome.told
    assert "(3, 3, 1) becomes (6, 1)" in told
    assert "(100, 16, 200) becomes (818, 200)" in told


def test_data_is_as_large_as_x_where_nothing_is_padded() -> None:
    done = asked("a-row-a-token", "1 2\n3 4")
    assert done.outcome.cases == {"for x of size (2, 2, 1)": True, "for x of size (100, 16, 200)": False}
    assert done.broken.error is None


PACKED = packed_by_torch([[1, 2], [3], [4, 5, 6]])
TRIED: dict[str, Callable[[], object]] = {
    "AttributeError: 'PackedSequence' object has no attribute 'size'": lambda: PACKED.size(),
    "AttributeError: 'PackedSequence' object has no attribute 'shape'": lambda: PACKED.shape,
    "AttributeError: 'PackedSequence' object has no attribute 'dim'": lambda: nn.GRUCell(1, 4)(PACKED),
    "TypeError: 'Tensor' object is not callable": lambda: PACKED.batch_sizes(),
    "RuntimeError: shape '[3, 3, 1]' is invalid for input of size 6": lambda: PACKED.data.view(3, 3, 1),
    "TypeError: relu(): argument 'input' (position 1) must be Tensor, not PackedSequence": lambda: torch.relu(PACKED),
    "TypeError: sigmoid(): argument 'input' (position 1) must be Tensor, not PackedSequence": lambda: nn.Sigmoid()(
        PACKED
    ),
    "TypeError: linear(): argument 'input' (position 1) must be Tensor, not PackedSequence": lambda: nn.Linear(1, 2)(
        PACKED
    ),
    "TypeError: dropout(): argument 'input' (position 1) must be Tensor, not PackedSequence": lambda: nn.Dropout()(
        PACKED
    ),
    "TypeError: embedding(): argument 'indices' (position 2) must be Tensor, not PackedSequence": lambda: nn.Embedding(
        9, 4
    )(PACKED),
}


@pytest.mark.parametrize("message", TRIED)
def test_torch_raises_the_message_and_an_entry_has_it(message: str) -> None:
    with pytest.raises((AttributeError, RuntimeError, TypeError)) as raised:
        TRIED[message]()
    assert f"{raised.typename}: {raised.value}" == message
    assert message in {each for entry in ENTRIES.values() for each in entry.messages}


def test_the_message_of_unpacking_into_two_is_pythons_own() -> None:
    with pytest.raises(ValueError, match="too many values") as raised:
        _, _ = PACKED
    assert ENTRIES["four-fields"].messages == (f"ValueError: {raised.value}",)


def every_message() -> list[tuple[Entry, str]]:
    return [(entry, message) for entry in contents.ENTRIES for message in entry.messages]


def test_every_message_is_checked_here() -> None:
    others = {message for _, message in every_message()} - set(TRIED)
    assert others == set(ENTRIES["four-fields"].messages)


def test_a_name_for_each_field_is_told() -> None:
    done = asked("four-fields")
    assert all(f"`{name}`" in done.outcome.told for name in PACKED._fields)
    (panels,) = done.outcome.chart.of
    shapes = [tuple(field.shape) for field in done.fixed["packed"]]
    assert [panel.title for panel in panels] == [f"{n}: {s}" for n, s in zip(PACKED._fields, shapes, strict=True)]
    assert panels[2].texts == (tuple(map(str, PACKED.sorted_indices.tolist())),)


def test_len_is_the_number_of_sequences_where_there_are_four() -> None:
    done = asked("len-of-packed", "1 2\n3\n4 5 6\n7 8")
    assert done.outcome.cases == {"with len(packed)": True, "with packed[0]": False}


def test_a_single_sequence_is_its_own_data() -> None:
    assert asked("len-of-packed", "1 2 3").outcome.cases == {"with len(packed)": False, "with packed[0]": True}


def test_a_loop_yields_four_tensors_and_two_of_them_are_none_only_with_enforce_sorted() -> None:
    """Three tensors and one None, as it has been told, are never there: both indices are, or neither."""
    assert [type(each) for each in PACKED] == [Tensor] * 4
    sorted_by_hand = pack_padded_sequence(torch.zeros(2, 3, 1), torch.tensor([3, 1]), batch_first=True)
    assert [type(each) for each in sorted_by_hand] == [Tensor, Tensor, type(None), type(None)]
    assert "Tensor, Tensor, Tensor, Tensor" in asked("len-of-packed").outcome.told
    assert "with `enforce_sorted=True` Tensor, Tensor, None, None" in asked("len-of-packed").outcome.told


@pytest.mark.parametrize("seed", range(6))
def test_unpacking_changed_data_gives_the_function_of_each_token(seed: int) -> None:
    sequences = random_sequences(seed)
    done = asked("pointwise-on-data", typed([[-number if number % 2 else number for number in s] for s in sequences]))
    wanted = [torch.tensor([0.0 if number % 2 else number for number in s]) for s in sequences]
    assert torch.equal(done.fixed.value, pad_sequence(wanted, batch_first=True))


def test_twice_a_packed_sequence_is_a_tuple_of_eight() -> None:
    assert len(PACKED * 2) == 8
    assert "a tuple of 8 fields" in asked("pointwise-on-data").outcome.told


@pytest.mark.parametrize("batch", ["get set\ngo\non your mark", "a\nb c\na b c d"])
def test_embedding_before_packing_and_embedding_data_give_the_same_rows(batch: str) -> None:
    done = asked("embed-before-packing", batch)
    names = done.fixed.names
    ids = pack_padded_sequence(names["ids"], names["lengths"], batch_first=True, enforce_sorted=False)
    assert torch.equal(names["embedding"](ids.data), names["packed"].data)
    assert "rows are the same" in done.outcome.told


@pytest.mark.parametrize("seed", range(6))
def test_the_loop_over_a_cell_ends_where_the_module_ends(seed: int) -> None:
    done = asked("cells-on-packed", typed(random_sequences(seed)))
    packed, gru = done.fixed["packed"], done.fixed["gru"]
    torch.testing.assert_close(done.fixed.value, gru(packed)[1][0], atol=1e-6, rtol=0)


def test_the_three_modules_take_packed_input_and_the_three_cells_do_not() -> None:
    cases = asked("cells-on-packed").outcome.cases
    for name in ("RNN", "GRU", "LSTM"):
        assert isinstance(getattr(nn, name)(1, 4)(PACKED)[0], PackedSequence)
        assert cases[f"with nn.{name}"]
        assert not cases[f"with nn.{name}Cell"]


def test_pad_packed_sequence_returns_the_lengths_that_are_told_to_be_asked_of_it() -> None:
    done = asked("batch-sizes-are-not-lengths")
    assert torch.equal(done.fixed.value, pad_packed_sequence(packed_by_torch([[1, 2, 3, 4], [5, 6], [7]]))[1])
