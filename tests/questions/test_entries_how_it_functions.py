"""The claims of "How does PyTorch's pack_padded_sequence function operate?": verdicts and numbers."""

from dataclasses import replace

import pytest
import torch
from entry_cases import answered, asking, unfailing, verdicts
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from packviz.config import Config
from packviz.questions.answer import Answer, answer
from packviz.questions.entries.how_it_functions import ENTRIES

ENTRY = {entry.key: entry for entry in ENTRIES}
EXPECTED = {
    "operate-data": "false",
    "operate-batch-sizes": "true",
    "operate-reconstruction": "false",  # (3, 4) beside (3, 5)
    "operate-length-too-large": "false",  # nothing is raised
    # right conclusion, wrong mechanism: it refuses a length of 0, and tolerates most others
    "operate-fault-tolerant": "depends",
    "operate-first-tokens": "true",
    "operate-instead-of-padding": "false",  # imprecise: it needs a padded tensor
    "operate-skews-gradients": "depends",  # only if pads enter the loss, or with both directions
    "operate-saves": "depends",  # often false: cells yes, steps no, and packed is a copy
    "operate-last-loop": "true",
    "operate-worth": "depends",
    "operate-bidirectional": "depends",
    "operate-length-too-small": "false",
}
EQUAL = "1 2 3\n4 5 6\n7 8 9"
asked = asking(ENTRY)
TEXT = [[1.0, 2, 3], [4, 5], [6, 7, 8, 9]]


def done(key: str) -> Answer:
    return answered(ENTRY[key])


def grid_of(rows: list[list[float]], width: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    x = pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    return nn.functional.pad(x, (0, max(0, width - x.size(1)))), torch.tensor([len(row) for row in rows])


test_the_verdict_is_the_one_that_was_found_out_before = verdicts(ENTRY, EXPECTED, answered)
test_no_fixed_program_fails = unfailing(ENTRY)


def test_every_claim_has_an_expected_verdict() -> None:
    assert set(ENTRY) == set(EXPECTED)


@pytest.mark.parametrize(("key", "batch", "verdict"), [
    ("operate-data", "6 7 8 9\n1 2 3\n4 5", "true"),  # longest first: no sort
    ("operate-batch-sizes", "1 2 3\n4 5\n6 7", "false"),
    ("operate-reconstruction", "1 2 3 4 5\n6 7", "true"),  # the longest is as wide as the input
    ("operate-skews-gradients", EQUAL, "false"),  # no pads
    ("operate-saves", EQUAL, "false"),
    ("operate-worth", EQUAL, "false"),
    ("operate-bidirectional", "1\n2\n3", "true"),  # one token is the whole sequence
])  # fmt: skip
def test_another_batch_gives_the_verdict_of_that_batch(key: str, batch: str, verdict: str) -> None:
    assert asked(key, batch).outcome.verdict == verdict


def test_with_both_directions_the_loop_is_right_for_length_one_alone() -> None:
    entry = replace(ENTRY["operate-last-loop"], batch="1 2 3\n4", config=Config(bidirectional=True))
    assert answer(entry).outcome.cases == {"for A": False, "for B": True}


def test_without_biases_padding_skews_no_gradient_when_it_is_masked() -> None:
    entry = replace(ENTRY["operate-skews-gradients"], config=Config(bias=False))
    assert list(answer(entry).outcome.cases.values()) == [True, False, False]


def test_the_rows_of_the_example_are_sorted_by_length_within_each_step() -> None:
    x, lengths = grid_of(TEXT)
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    assert [int(row) for row in packed.data] == [6, 1, 4, 7, 2, 5, 8, 3, 9]
    told = done("operate-data").outcome.told
    assert f"torch packs {[int(row) for row in packed.data]}" in told
    assert f"`sorted_indices` {packed.sorted_indices.tolist()}" in told
    assert done("operate-data").broken.value.tolist() == [1, 4, 6, 2, 5, 7, 3, 8, 9]  # as the text has it
    assert packed.batch_sizes.tolist() == [3, 3, 2, 1] == done("operate-batch-sizes").fixed.value


def test_the_input_comes_back_with_total_length_only() -> None:
    x, lengths = grid_of(TEXT, 5)
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    assert pad_packed_sequence(packed, batch_first=True)[0].shape == (3, 4)
    assert torch.equal(pad_packed_sequence(packed, True, total_length=5)[0], x)
    told = done("operate-reconstruction").outcome.told
    assert "The input is (3, 5), what comes back is (3, 4)" in told
    assert "With `total_length=5` it is equal to the input." in told


def test_a_length_above_the_tokens_packs_pads_and_raises_nothing() -> None:
    x, _ = grid_of([[1.0, 2, 3], [5, 6], [7, 8, 9]], 5)
    packed = pack_padded_sequence(x, torch.tensor([3, 2, 5]), True, enforce_sorted=False)
    assert [int(row) for row in packed.data] == [7, 1, 5, 8, 2, 6, 9, 3, 0, 0]
    assert packed.data.tolist() == done("operate-length-too-large").broken.value
    beyond = pack_padded_sequence(x, torch.tensor([3, 2, 6]), True, enforce_sorted=False)
    told = done("operate-length-too-large").outcome.told
    assert f"it gives {len(beyond.data)} rows, while the lengths add up to {int(beyond.batch_sizes.sum())}" in told
    assert "2 pads among them" in told


def test_a_missing_length_loses_a_sequence_unless_the_order_is_enforced() -> None:
    x, _ = grid_of([[1.0, 2, 3], [7, 8, 9], [5, 6]])
    lost = pack_padded_sequence(x, torch.tensor([3, 3]), True, enforce_sorted=False)
    assert sorted(lost.data.tolist()) == [1, 2, 3, 7, 8, 9]  # not the refusal of row 30
    with pytest.raises(RuntimeError) as few:
        pack_padded_sequence(x, torch.tensor([3, 3]), batch_first=True)
    with pytest.raises(RuntimeError) as none:
        pack_padded_sequence(x, torch.tensor([3, 3, 0]), batch_first=True)
    assert ENTRY["operate-fault-tolerant"].messages == (f"RuntimeError: {none.value}", f"RuntimeError: {few.value}")
    cases = done("operate-fault-tolerant").outcome.cases
    assert [name for name, refused in cases.items() if refused] == [
        "for a length of 0",
        "for a missing length with enforce_sorted=True",
    ]


def test_the_first_tokens_stand_together_longest_sequence_first() -> None:
    _, lengths = grid_of(TEXT)
    steps = pack_padded_sequence(torch.arange(4).expand(3, 4), lengths, True, enforce_sorted=False).data.tolist()
    assert steps == sorted(steps) == done("operate-first-tokens").fixed.value
    assert "by length: C, A, B." in done("operate-first-tokens").outcome.told


def test_pack_sequence_pads_inside() -> None:
    assert "calls `pad_sequence` and `_pack_padded_sequence`" in done("operate-instead-of-padding").outcome.told
    with pytest.raises(TypeError) as raised:
        pack_padded_sequence([torch.ones(2), torch.ones(1)], torch.tensor([2, 1]), batch_first=True)  # type: ignore[arg-type]
    assert done("operate-instead-of-padding").broken.error == f"TypeError: {raised.value}"


def test_the_masked_gradient_is_the_packed_one() -> None:
    torch.manual_seed(0)
    gru = nn.GRU(1, 4, batch_first=True)
    x, lengths = grid_of([[1.0, -1, 2], [3, 1], [2, 1, -1, 1]])
    packed = pack_padded_sequence(x[:, :, None], lengths, True, enforce_sorted=False)
    gru(packed)[0].data.square().mean().backward()
    torch.testing.assert_close(done("operate-skews-gradients").fixed.value, gru.bias_hh_l0.grad)
    assert not torch.allclose(done("operate-skews-gradients").broken.value, gru.bias_hh_l0.grad, atol=1e-3)


def test_packed_data_is_a_copy_and_the_steps_stay() -> None:
    x, lengths = grid_of(TEXT)
    packed = pack_padded_sequence(x, lengths, True, enforce_sorted=False)
    assert packed.data.data_ptr() != x.data_ptr()
    assert done("operate-saves").fixed.value == x.nbytes + packed.data.nbytes
    told = done("operate-saves").outcome.told
    assert f"{len(packed.data)} cell updates instead of {x.numel()}, but {len(packed.batch_sizes)} time steps" in told
    assert f"a copy: {packed.data.nbytes} bytes beside the {x.nbytes} of `x`" in told


def test_the_loop_reads_what_h_n_holds() -> None:
    torch.manual_seed(0)
    gru = nn.GRU(1, 4, batch_first=True)
    x, lengths = grid_of(TEXT)
    _, h_n = gru(pack_padded_sequence(x[:, :, None], lengths, True, enforce_sorted=False))
    assert torch.equal(done("operate-last-loop").fixed.value, h_n[-1])
    assert torch.equal(done("operate-last-loop").broken.value[0], torch.zeros(4))


def test_packing_spares_the_cells_that_are_told() -> None:
    packed = pack_padded_sequence(torch.zeros(3, 6, 1), torch.tensor([1, 2, 6]), True, enforce_sorted=False)
    told = done("operate-worth").outcome.told
    assert f"spares {3 * 6 - len(packed.data)} of {3 * 6} cell updates" in told
    assert done("operate-worth").fixed.value == len(packed.data)


def test_the_backward_half_has_read_one_token_at_the_last_valid_step() -> None:
    found = done("operate-bidirectional")
    read, wanted, gru = found.broken.value, found.fixed.value, found.broken["gru"]
    one = gru(torch.tensor([[[3.0]]]))[0][0, 0, 2:]  # the last token of A alone
    torch.testing.assert_close(read[0, 2:], one.detach())
    assert torch.equal(read[:, :2], wanted[:, :2])
    assert "For A, C that is not" in found.outcome.told


def test_a_length_that_is_too_small_drops_the_last_token() -> None:
    x, _ = grid_of(TEXT)
    packed = pack_padded_sequence(x, torch.tensor([2, 1, 3]), True, enforce_sorted=False)
    assert set(x[x > 0].tolist()) - set(packed.data.tolist()) == {3, 5, 9}
    assert "dropped in silence: [5, 3, 9]" in done("operate-length-too-small").outcome.told
    assert done("operate-length-too-small").broken.value == packed.data.tolist()
