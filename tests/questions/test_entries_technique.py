"""Text on the pack and pad technique: the verdicts of its claims, and torch itself as the judge of what they tell."""

import pytest
import torch
from entry_cases import asking, packed_of, padded, pads_of, panels_of, typed, verdicts
from torch import nn
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.config import Config
from packviz.questions.entries import technique

ENTRIES = {entry.key: entry for entry in technique.ENTRIES}
EXPECTED = {  # in the order of the text's table
    "technique-last-step": "true",
    "technique-mask-type": "false",  # the result is discarded
    "technique-repeated-mask": "depends",  # works, but hard-codes H
    "technique-restore-by-hand": "false",  # obsolete: enforce_sorted=False keeps the indices
    "technique-random-ids": "false",  # a real token 0 is indistinguishable from a pad
    "technique-zeros-at-pads": "true",  # but the zero is filler
    "technique-sorted-example": "false",  # sort and unsort are identities
}
asked = asking(ENTRIES)
UNEVEN = ([2, 1, 4], [1, 4, 2, 2], [3, 1, 5], [1, 2])


def module(hidden_size: int = 4) -> nn.GRU:
    torch.manual_seed(0)
    return nn.GRU(1, hidden_size, batch_first=True).requires_grad_(False)


def test_every_claim_of_the_text_is_an_entry_of_one_group() -> None:
    assert set(ENTRIES) == set(EXPECTED)
    assert {(entry.group, entry.rows) for entry in ENTRIES.values()} == {(technique.GROUP, ())}


test_the_verdict_is_the_one_that_was_found_before = verdicts(ENTRIES, EXPECTED)


def test_the_error_of_the_repeated_mask_is_torchs() -> None:
    done = asked("technique-repeated-mask")
    assert (done.broken.error,) == ENTRIES["technique-repeated-mask"].messages


@pytest.mark.parametrize("lengths", UNEVEN)
def test_without_packing_h_is_the_last_column_of_the_output(lengths: list[int]) -> None:
    outcome = asked("technique-last-step", batch=typed(lengths)).outcome
    output, h_n = module()(padded(lengths))
    assert torch.equal(output[:, -1], h_n[0])
    assert outcome.verdict == "true"
    assert f"takes {max(lengths)} time steps" in outcome.told
    assert f"A after {max(lengths) - lengths[0]}" in outcome.told
    assert f"up to {(h_n - module()(packed_of(lengths))[1]).abs().max():.2f} away" in outcome.told
    assert {b for b, _ in panels_of(outcome)[0].wrong} == {b for b, n in enumerate(lengths) if n < max(lengths)}


def test_in_both_directions_h_is_not_the_last_column() -> None:
    assert asked("technique-last-step", config=Config(bidirectional=True)).outcome.verdict == "false"


def test_type_returns_a_new_mask_and_leaves_the_old_one() -> None:
    done = asked("technique-mask-type")
    assert (done.broken.value, done.fixed.value) == (torch.bool, torch.float32)
    assert "`torch.bool` afterwards" in done.outcome.told
    assert panels_of(done.outcome)[0].texts == (("0", "1", "0", "0"), ("1", "0", "0", "0"), ("0", "0", "0", "1"))


@pytest.mark.parametrize("lengths", UNEVEN)
def test_the_repeated_mask_picks_the_last_state_with_five_units_alone(lengths: list[int]) -> None:
    done = asked("technique-repeated-mask", batch=typed(lengths))
    assert done.outcome.cases == {"with hidden_size=5": True, "with hidden_size=4": False}
    assert torch.allclose(done.fixed.value, module()(packed_of(lengths))[1][0], atol=1e-6)
    of_five = asked("technique-repeated-mask", batch=typed(lengths), config=Config(hidden_size=5))
    assert torch.allclose(of_five.broken.value, module(5)(packed_of(lengths))[1][0], atol=1e-6)


@pytest.mark.parametrize("lengths", UNEVEN)
def test_torch_restores_the_order_that_invidx_restores(lengths: list[int]) -> None:
    done = asked("technique-restore-by-hand", batch=typed(lengths))
    packed = packed_of(lengths)
    assert done.outcome.verdict == "false"
    assert str(packed.sorted_indices.tolist()) in done.outcome.told
    assert str(packed.unsorted_indices.tolist()) in done.outcome.told
    assert "2 of 2 results are the same" in done.outcome.told
    assert torch.allclose(done.broken.value, module()(packed)[1][0], atol=1e-6)


def test_ids_from_0_on_draw_the_pad() -> None:
    done = asked("technique-random-ids")
    assert done.broken.value > 0
    assert done.fixed.value == 0
    assert f"{done.broken.value} are 0" in done.outcome.told
    assert panels_of(done.outcome)[0].wrong == {(0, 1), (2, 0)}
    assert "[1, 1, 3] instead of [2, 1, 4]" in done.outcome.told


def test_a_batch_without_the_id_0_is_safe() -> None:
    cases = asked("technique-random-ids", batch="5 1\n3\n4 2 7 1").outcome.cases
    assert cases["for the vectors of this batch"]
    assert cases["for lengths counted from the ids"]


@pytest.mark.parametrize("lengths", UNEVEN)
def test_the_zeros_at_the_pads_are_filler(lengths: list[int]) -> None:
    outcome = asked("technique-zeros-at-pads", batch=typed(lengths)).outcome
    pads = torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None]
    unpacked, _ = pad_packed_sequence(module()(packed_of(lengths))[0], batch_first=True)
    assert not unpacked[pads].any()
    assert outcome.verdict == "true"
    assert f"All {len(pads_of(lengths))} pads are 0.00" in outcome.told
    assert "they are −1.00" in outcome.told
    computed = module()(padded(lengths))[0][..., 0][pads]
    assert f"{computed.min():.2f}".replace("-", "−") in outcome.told
    assert panels_of(outcome)[0].wrong == pads_of(lengths)


@pytest.mark.parametrize(("batch", "verdict"), [
    ("1 2 3\n4", "false"),
    ("1 2\n3 4", "false"),
    ("4\n1 2 3", "depends"),  # two rows change places: the order is its own way back
    ("1 2\n3\n4 5 6", "true"),
])  # fmt: skip
def test_only_an_order_that_moves_something_and_is_not_its_own_way_back_shows_how_it_is_restored(
    batch: str, verdict: str
) -> None:
    assert asked("technique-sorted-example", batch=batch).outcome.verdict == verdict


def test_the_lengths_3_1_are_sorted_already() -> None:
    done = asked("technique-sorted-example")
    order = torch.tensor([3, 1]).argsort(descending=True).tolist()
    assert done.broken.value == (order, order)
    assert f"give the order {order}" in done.outcome.told
    packed = packed_of([2, 1, 3])
    assert done.fixed.value == (packed.sorted_indices.tolist(), packed.unsorted_indices.tolist())
    assert f"order is {packed.sorted_indices.tolist()}" in done.outcome.told
    assert [sorted(panel.wrong) for panel in panels_of(done.outcome)] == [
        [],
        [(i, j) for i in (1, 3) for j in range(3)],
    ]
