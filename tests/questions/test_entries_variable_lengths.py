"""Text on variable sequence lengths: the verdicts of its claims, and torch itself as the judge of what they tell."""

import re

import numpy as np
import pytest
import torch
from entry_cases import UNEVEN, asking, packed_of, padded, panels_of, typed, unheard, verdicts
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from packviz.config import Config
from packviz.questions.entries import variable_lengths

ENTRIES = {entry.key: entry for entry in variable_lengths.ENTRIES}
EXPECTED = {  # in the order of the text's table
    "variable-needs-packed": "false",  # plain tensors work
    "variable-sorted-required": "false",  # obsolete since 1.1
    "variable-resize-pads": "depends",  # harmless packed, poisonous unpacked
    "variable-inverse": "true",  # it is the inverse permutation
    "variable-last-output": "depends",  # wrong for the backward half
    "variable-halves": "false",  # (-.5, 1.5), not (0, 1)
    "variable-zip-longest": "false",  # TypeError
    "variable-pad-vector": "false",  # pads get real, trainable vectors
    "variable-targets-order": "false",  # cannot be packed without sorting again
    "variable-wrapper": "false",  # obsolete since 0.4
    "variable-cuda-flag": "false",  # obsolete
    "variable-listing": "false",  # cannot run
    "variable-not-necessary": "depends",  # the question that the text leaves open
}
MEASURED = "variable-resize-faster"  # its verdict is what this machine gives
SEVEN = [torch.tensor(row) for row in ([1.0, 2.0], [3.0], [4.0, 5.0, 6.0, 7.0])]
asked = asking(ENTRIES)


def module(seed: int = 0, **settings: object) -> nn.GRU:
    torch.manual_seed(seed)
    return nn.GRU(1, settings.pop("hidden_size", 4), batch_first=True, **settings)


def distance_of_h_n(gru: nn.GRU, x: Tensor, lengths: list[int]) -> float:
    packed = pack_padded_sequence(x, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
    return float((gru(x)[1] - gru(packed)[1]).detach().abs().max())


def test_every_claim_of_the_text_is_an_entry_of_one_group() -> None:
    assert set(ENTRIES) == {*EXPECTED, MEASURED}
    assert {(entry.group, entry.rows) for entry in ENTRIES.values()} == {(variable_lengths.GROUP, ())}


test_the_verdict_is_the_one_that_was_found_before = verdicts(ENTRIES, EXPECTED)


@pytest.mark.parametrize("key", [key for key, entry in ENTRIES.items() if entry.messages])
def test_every_message_is_raised_by_the_broken_program_or_told(key: str) -> None:
    assert unheard(asked(key)) == []


def test_the_verdict_on_np_resize_follows_from_the_measured_times() -> None:
    outcome = asked(MEASURED).outcome
    resize, zeros, np_pad = (float(time) for time in re.findall(r"(\d+\.\d+) µs", outcome.told))
    assert min(resize, zeros, np_pad) > 0
    assert set(outcome.cases) == {"against np.zeros and a copy", "against np.pad"}
    for other, held in zip((zeros, np_pad), outcome.cases.values(), strict=True):
        assert (resize <= other) if held else (resize >= other)


def test_np_resize_repeats_the_sequence_where_zeros_would_stand() -> None:
    done = asked(MEASURED)
    repeated, filled = panels_of(done.outcome)
    assert [list(map(float, row)) for row in filled.texts] == pad_sequence(SEVEN, batch_first=True).tolist()
    assert [list(map(float, row)) for row in repeated.texts] == done.broken.value
    assert repeated.wrong == {(0, 2), (0, 3), (1, 1), (1, 2), (1, 3)}
    assert done.broken.value == [np.resize(row.numpy(), 4).tolist() for row in SEVEN]


@pytest.mark.parametrize("lengths", UNEVEN)
def test_a_plain_tensor_runs_and_h_n_of_the_shorter_rows_differs(lengths: list[int]) -> None:
    outcome = asked("variable-needs-packed", batch=typed(lengths)).outcome
    shorter = {b for b, n in enumerate(lengths) if n < max(lengths)}
    assert outcome.verdict == "false"
    assert {row for row, _ in panels_of(outcome)[1].wrong} == shorter
    assert str((len(lengths), max(lengths), 4)) in outcome.told
    assert f"of {len(shorter)} of the {len(lengths)}" in outcome.told


@pytest.mark.parametrize("lengths", UNEVEN)
def test_torch_sorts_by_itself(lengths: list[int]) -> None:
    done = asked("variable-sorted-required", batch=typed(lengths))
    packed = packed_of(lengths)
    assert done.outcome.verdict == "false"
    assert str(packed.sorted_indices.tolist()) in done.outcome.told
    assert torch.equal(done.fixed["packed"].data, packed.data)


@pytest.mark.parametrize("lengths", UNEVEN)
def test_indices_sorted_again_are_the_inverse(lengths: list[int]) -> None:
    done = asked("variable-inverse", batch=typed(lengths))
    packed = packed_of(lengths)
    assert done.outcome.verdict == "true"
    assert str(packed.unsorted_indices.tolist()) in done.outcome.told
    assert done.fixed.value == lengths
    again = torch.tensor(lengths)[packed.sorted_indices][packed.sorted_indices].tolist()
    assert done.broken.value == again
    assert {n for _, n in panels_of(done.outcome)[2].wrong} == {
        n for n, pair in enumerate(zip(again, lengths, strict=True)) if pair[0] != pair[1]
    }


@pytest.mark.parametrize("lengths", UNEVEN)
def test_the_backward_half_at_the_last_token_is_not_its_last_output(lengths: list[int]) -> None:
    done = asked("variable-last-output", batch=typed(lengths))
    gru = module(hidden_size=2, bidirectional=True)
    packed = packed_of(lengths)
    output, h_n = gru(packed)
    at_last = pad_packed_sequence(output, batch_first=True)[0][torch.arange(len(lengths)), torch.tensor(lengths) - 1]
    assert torch.allclose(done.broken.value, at_last, atol=1e-6)
    assert torch.allclose(done.fixed.value, torch.cat([h_n[0], h_n[1]], 1), atol=1e-6)
    rows = {row for row, _ in panels_of(done.outcome)[0].wrong}
    assert rows == {b for b, n in enumerate(lengths) if n > 1}
    assert {column for _, column in panels_of(done.outcome)[0].wrong} <= {2, 3}


def test_with_sequences_of_one_token_both_halves_are_right() -> None:
    assert asked("variable-last-output", batch="1\n2\n3").outcome.verdict == "true"


@pytest.mark.parametrize("lengths", UNEVEN)
def test_np_resize_changes_h_n_of_the_padded_run_alone(lengths: list[int]) -> None:
    outcome = asked("variable-resize-pads", batch=typed(lengths)).outcome
    x, gru = padded(lengths), module()
    for b, n in enumerate(lengths):
        x[b, :, 0] = torch.from_numpy(np.resize(x[b, :n, 0].numpy(), max(lengths)))
    assert outcome.cases["for h_n of the packed batch"]
    assert outcome.cases["for the output of the real tokens"]
    assert not outcome.cases["for h_n of the padded batch"]
    told = [float(number) for number in re.findall(r"up to (\d\.\d\d)", outcome.told)]
    assert told == pytest.approx(
        [distance_of_h_n(gru, x, lengths), distance_of_h_n(gru, padded(lengths), lengths)], abs=0.006
    )


def test_without_pads_np_resize_is_harmless() -> None:
    assert asked("variable-resize-pads", batch="1 2\n3 4").outcome.verdict == "true"


def test_small_numbers_are_brought_into_0_to_1() -> None:
    assert asked("variable-halves", batch="0.1 0.2\n0.1").outcome.verdict == "true"


def test_the_halved_sum_leaves_0_to_1_as_told() -> None:
    outcome = asked("variable-halves").outcome
    gru = module(2, hidden_size=2, bidirectional=True)
    rows = [torch.tensor([40.0, 60.0]), torch.tensor([-90.0]), torch.tensor([50.0, 80.0, 90.0])]
    x = pad_sequence(rows, batch_first=True).unsqueeze(-1)
    packed = pack_padded_sequence(x, torch.tensor([2, 1, 3]), batch_first=True, enforce_sorted=False)
    halved = (gru(packed)[0].data.unflatten(1, (2, 2)).sum(1) + 1) / 2
    assert halved.min() < 0
    assert f"{halved.min():.2f} to {halved.max():.2f}".replace("-", "−") in outcome.told


def test_a_list_of_the_columns_is_what_pad_sequence_gives() -> None:
    done = asked("variable-zip-longest")
    assert torch.equal(done.fixed.value, pad_sequence([torch.tensor([3, 4]), torch.tensor([5, 6, 7])], padding_value=2))
    assert "which is what" in done.outcome.told


def test_the_pad_has_a_vector_and_learns_unless_it_is_packed() -> None:
    done = asked("variable-pad-vector")
    vector, gradient = done.broken.value
    assert vector.all()
    assert gradient.abs().max() > 0.01
    assert not done.fixed.value.any()
    assert "From the packed run its gradient is [0.00, 0.00]" in done.outcome.told
    assert {row for panel in panels_of(done.outcome) for row, _ in panel.wrong} == {2}


def test_without_pads_the_pad_has_a_vector_but_learns_nothing() -> None:
    cases = asked("variable-pad-vector", batch="3 4\n5 6").outcome.cases
    assert cases == {"for its vector": False, "for its gradient": True}


def test_targets_as_long_as_their_inputs_need_no_sorting() -> None:
    assert asked("variable-targets-order", batch="1 2\n3 4\n5 6").outcome.verdict == "true"


def test_packed_targets_of_other_lengths_lie_in_rows_of_other_sequences() -> None:
    inputs, targets = panels_of(asked("variable-targets-order").outcome)
    given = torch.tensor([2, 0, 1])  # the inputs' order: longest first
    rows = given[:, None].expand(-1, 3)
    pair = (torch.tensor([3, 2, 1]), torch.tensor([2, 1, 3]).roll(1)[given])
    both = [pack_padded_sequence(rows, n, batch_first=True, enforce_sorted=False).data.tolist() for n in pair]
    assert [list(panel.owners[0]) for panel in (inputs, targets)] == both
    assert {n for _, n in targets.wrong} == {n for n in range(6) if both[0][n] != both[1][n]}


def test_variable_is_a_plain_tensor_and_gives_the_same_gradient() -> None:
    done = asked("variable-wrapper")
    assert torch.equal(done.broken.value, done.fixed.value)
    assert type(done.broken["x"]) is Tensor
    assert "the same gradients" in done.outcome.told


def test_the_same_lines_run_on_a_device_without_a_branch() -> None:
    outcome = asked("variable-cuda-flag").outcome
    assert {"for the device cpu", "for the device meta"} <= set(outcome.cases)
    assert ("meta", "meta", "meta") in panels_of(outcome)[0].texts


@pytest.mark.parametrize("lengths", UNEVEN)
def test_packing_is_not_necessary_for_the_tokens_of_one_direction(lengths: list[int]) -> None:
    outcome = asked("variable-not-necessary", batch=typed(lengths)).outcome
    assert list(outcome.cases.values()) == [True, False, False]
    far = distance_of_h_n(module(), padded(lengths), lengths)
    assert f"up to {far:.2f} away" in outcome.told


def test_packing_is_not_necessary_at_all_where_nothing_is_padded() -> None:
    assert asked("variable-not-necessary", batch="1 2\n3 4").outcome.verdict == "true"


def test_two_layers_of_the_repaired_listing_return_both_directions() -> None:
    assert tuple(asked("variable-listing", config=Config()).fixed.value) == (3, 3, 2 * 256)
