"""The claims of PyTorch's own documentation: verdicts and numbers."""

import pytest
import torch
from entry_cases import answered, asking, unfailing, verdicts
from torch.nn.utils.rnn import (
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpad_sequence,
)

from packviz.questions.answer import Answer
from packviz.questions.entries.documentation import ENTRIES

ENTRY = {entry.key: entry for entry in ENTRIES}
EXPECTED = {
    "docs-not-checked": "false",  # it sorts
    "docs-longest-column": "depends",  # batch_first=False only
    "docs-inverse": "depends",  # not when T > max(lengths)
    "docs-unpad-in-place": "depends",  # batch_first=False changes its argument
}
asked = asking(ENTRY)


def done(key: str) -> Answer:
    return answered(ENTRY[key])


test_the_verdict_is_the_one_that_was_found_out_before = verdicts(ENTRY, EXPECTED, answered)
test_no_fixed_program_fails = unfailing(ENTRY)


def test_every_claim_has_an_expected_verdict() -> None:
    assert set(ENTRY) == set(EXPECTED)


@pytest.mark.parametrize(("key", "batch", "verdict"), [
    ("docs-not-checked", "3 4 5\n1 2\n6", "true"),  # sorted already: packed as they come
    ("docs-longest-column", "1 2 3\n2\n3", "true"),  # a row and a column that are equal
    ("docs-longest-column", "7\n1 2 3 4\n5 6", "false"),  # the first sequence is not the longest
])  # fmt: skip
def test_another_batch_gives_the_verdict_of_that_batch(key: str, batch: str, verdict: str) -> None:
    assert asked(key, batch).outcome.verdict == verdict


def test_equal_lengths_leave_no_pads_that_could_be_lost() -> None:
    cases = asked("docs-inverse", "1 2\n3 4").outcome.cases
    assert [name for name, holds in cases.items() if not holds] == ["where T is larger"]


def test_pack_sequence_sorts_although_its_docstring_says_that_it_does_not_check() -> None:
    assert "this condition is not checked" in (pack_sequence.__doc__ or "")
    sequences = [torch.tensor([1.0, 2]), torch.tensor([3.0, 4, 5]), torch.tensor([6.0])]
    packed = pack_sequence(sequences, enforce_sorted=False)
    assert packed.sorted_indices.tolist() == [1, 0, 2] == done("docs-not-checked").fixed.value
    assert "says 'this condition is not checked'" in done("docs-not-checked").outcome.told
    with pytest.raises(RuntimeError) as raised:
        pack_sequence(sequences)
    assert done("docs-not-checked").broken.error == f"RuntimeError: {raised.value}"
    assert ENTRY["docs-not-checked"].messages == (f"RuntimeError: {raised.value}",)


def test_the_first_column_is_a_time_step_with_batch_first() -> None:
    sequences = [torch.tensor([1.0, 2, 3, 4]), torch.tensor([5.0, 6]), torch.tensor([7.0])]
    assert torch.equal(pad_sequence(sequences)[:, 0], sequences[0])
    column = pad_sequence(sequences, batch_first=True)[:, 0]
    assert f"with `batch_first=True` it is {column.tolist()}" in done("docs-longest-column").outcome.told


def test_what_comes_back_is_no_wider_than_the_longest_sequence() -> None:
    x = torch.zeros(3, 5, 1)
    packed = pack_padded_sequence(x, [2, 3, 1], batch_first=True, enforce_sorted=False)
    back, _ = pad_packed_sequence(packed, batch_first=True)
    told = done("docs-inverse").outcome.told
    assert f"of {tuple(x.shape)} comes {tuple(back.shape)}" in told
    assert "With `total_length=5` all is there again" in told


def test_unpad_sequence_turns_its_argument_in_place() -> None:
    padded = pad_sequence([torch.tensor([1.0, 2, 3]), torch.tensor([4.0, 5])])
    before = tuple(padded.shape)
    unpad_sequence(padded, torch.tensor([3, 2]))
    assert f"{before} before the call, {tuple(padded.shape)} after it" in done("docs-unpad-in-place").outcome.told
    assert done("docs-unpad-in-place").broken.value == padded.shape != done("docs-unpad-in-place").fixed.value
