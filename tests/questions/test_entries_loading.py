"""Several GPUs, loaders: the verdicts, what torch does with parts and batches, and where it comes out otherwise."""

from dataclasses import replace

import pytest
import torch
from entry_cases import asking
from torch.nn.utils.rnn import PackedSequence, pack_sequence
from torch.utils.data import DataLoader

from packviz.questions.answer import answer
from packviz.questions.entries.loading import ENTRIES
from packviz.questions.model import Entry, Verdict

BY_KEY = {entry.key: entry for entry in ENTRIES}
EXPECTED: dict[str, Verdict] = {
    "data-parallel-widths": "depends",  # row 61: replica 2 returns T=1, with total_length=3 it returns 3
    "packed-into-data-parallel": "false",  # row 62: pass padded and lengths, pack inside forward
    "collate-returns-packed": "depends",  # row 63: the DataLoader keeps it; it is a loop over its fields that does not
}
with_batch = asking(BY_KEY)


def test_rows_61_to_63_have_one_entry_each() -> None:
    assert sorted(row for entry in ENTRIES for row in entry.rows) == [61, 62, 63]
    assert EXPECTED.keys() == BY_KEY.keys()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_the_verdict_is_the_known_one(entry: Entry) -> None:
    assert answer(entry).outcome.verdict == EXPECTED[entry.key]


def test_the_second_part_is_one_column_wide_and_three_with_total_length() -> None:
    done = answer(BY_KEY["data-parallel-widths"])
    assert [part.size(1) for part in done.broken["parts"]] == [3, 1]
    assert [part.size(1) for part in done.fixed["parts"]] == [3, 3]
    assert done.broken.error == done.entry.messages[0]
    assert "3 and 1 columns" in done.outcome.told


def test_parts_whose_longest_sequences_are_alike_can_be_joined() -> None:
    done = with_batch("data-parallel-widths", "1 2\n3\n4 5\n6")
    assert done.outcome.verdict == "true"
    assert done.broken.error is None


def test_joined_parts_with_total_length_are_the_output_of_the_whole_batch() -> None:
    done = answer(BY_KEY["data-parallel-widths"])
    whole = done.fixed["forward"](done.fixed["x"], done.fixed["lengths"])
    torch.testing.assert_close(torch.cat(done.fixed["parts"]), whole)


def test_half_of_the_fields_is_no_half_of_the_batch() -> None:
    done = answer(BY_KEY["packed-into-data-parallel"])
    rows = [(len(part.data), int(part.batch_sizes.sum())) for part in done.broken["parts"]]
    assert rows == [(4, 6), (3, 1)]
    assert (done.broken.error,) == done.entry.messages
    assert f"has {rows[0][0]} rows" in done.outcome.told


def test_where_a_half_ends_with_a_time_step_the_first_part_is_right_and_the_second_starts_anew() -> None:
    done = with_batch("packed-into-data-parallel", "1 2\n3 4")
    assert done.outcome.cases == {"for part 1": True, "for part 2": False}


def test_the_dataloader_hands_a_packed_sequence_on() -> None:
    loader = DataLoader([torch.ones(2), torch.ones(1)], batch_size=2, collate_fn=pack_sequence)
    assert isinstance(next(iter(loader)), PackedSequence)
    done = answer(BY_KEY["collate-returns-packed"])
    assert isinstance(done.broken["batch"], PackedSequence)
    assert done.broken["batch"].sorted_indices is None
    assert (done.broken.error,) == done.entry.messages


def test_a_loop_over_the_fields_of_a_sorted_batch_makes_a_plain_tuple() -> None:
    entry = BY_KEY["collate-returns-packed"]
    sorted_too = entry.broken.replace("batch_first=True)\nloader", "batch_first=True, enforce_sorted=False)\nloader")
    done = answer(replace(entry, broken=sorted_too))
    assert done.broken.error is None
    assert type(done.broken.value) is tuple
    assert not done.outcome.cases["in a loop over the fields of the batch"]
    assert "a tuple of 4" in done.outcome.told


def test_a_loop_that_rebuilds_the_type_keeps_it() -> None:
    entry = BY_KEY["collate-returns-packed"]
    done = answer(replace(entry, broken=entry.broken.replace('tuple(field.to("cpu") for field in batch)', "batch")))
    assert done.outcome.verdict == "true"
