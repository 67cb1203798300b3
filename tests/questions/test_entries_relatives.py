"""Relatives with confusing names: the verdicts, what torch says of them, and where it comes out otherwise."""

import pytest
import torch
import torch.nn.functional as F
from entry_cases import asking

from packviz.questions.answer import answer
from packviz.questions.entries.relatives import ENTRIES
from packviz.questions.model import Entry, Verdict

BY_KEY = {entry.key: entry for entry in ENTRIES}
EXPECTED: dict[str, Verdict] = {
    "nested-tensor": "false",  # row 71: sequence-major, and no RNN reads it
    "packing-for-fine-tuning": "depends",  # row 72: they see each other unless the mask is block-diagonal
}
with_batch = asking(BY_KEY)


def test_rows_71_and_72_have_one_entry_each() -> None:
    assert sorted(row for entry in ENTRIES for row in entry.rows) == [71, 72]
    assert EXPECTED.keys() == BY_KEY.keys()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_the_verdict_is_the_known_one(entry: Entry) -> None:
    assert answer(entry).outcome.verdict == EXPECTED[entry.key]


def test_jagged_values_are_the_sequences_joined_and_packed_data_is_time_major() -> None:
    done = answer(BY_KEY["nested-tensor"])
    assert done.broken["nested"].values().flatten().tolist() == [1, 2, 3, 4, 5]
    assert done.fixed["packed"].data.flatten().tolist() == [1, 4, 2, 5, 3]
    assert "[1, 2, 3, 4, 5]" in done.outcome.told
    assert "[1, 4, 2, 5, 3]" in done.outcome.told
    assert (done.broken.error,) == done.entry.messages


@pytest.mark.parametrize("batch", ["1 2 3", "1\n2\n3"])
def test_one_sequence_or_one_step_lies_alike_in_both(batch: str) -> None:
    assert with_batch("nested-tensor", batch).outcome.cases["for the order in memory"]


def test_with_a_block_diagonal_mask_each_sequence_attends_as_if_it_were_alone() -> None:
    done = answer(BY_KEY["packing-for-fine-tuning"])
    e = done.fixed["e"][None]
    for program, same in ((done.fixed, True), (done.broken, False)):
        whole = F.scaled_dot_product_attention(e, e, e, attn_mask=program["seen"])[0]
        torch.testing.assert_close(program.value @ e[0], whole)
        start = len(done.fixed["sequences"][0])
        own = e[:, start:]
        alone = F.scaled_dot_product_attention(own, own, own, is_causal=True)[0]
        assert torch.allclose(whole[start:], alone, atol=1e-6) == same


def test_the_leak_that_is_told_is_the_weight_of_b_on_a() -> None:
    done = answer(BY_KEY["packing-for-fine-tuning"])
    start = len(done.fixed["sequences"][0])
    leak = done.broken.value[start:, :start].sum(1).mean().item()
    assert f"{100 * leak:.1f} % with a causal" in done.outcome.told
    assert done.fixed.value[start:, :start].abs().max().item() == 0
    assert str([0, *done.fixed["lengths"].cumsum(0).tolist()]) in done.outcome.told


def test_one_sequence_alone_in_its_row_sees_no_other() -> None:
    assert with_batch("packing-for-fine-tuning", "the old cat").outcome.verdict == "true"
