"""Loss, attention, pooling: the verdicts, the numbers that are told, and batches on which the verdicts are others."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from entry_cases import asking
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from packviz.batch import Batch
from packviz.compare import attention
from packviz.config import Config
from packviz.questions.answer import answer
from packviz.questions.entries.losses import ENTRIES
from packviz.questions.model import Entry, Verdict
from packviz.trace import trace

BY_KEY = {entry.key: entry for entry in ENTRIES}
EXPECTED: dict[str, Verdict] = {
    "packing-or-ignore-index": "depends",  # row 54: the same loss, but only one of them skips computation
    "packing-logits-and-targets": "false",  # row 55: only a flattening trick
    "data-after-unpacking": "false",  # row 56
    "attention-to-pads": "false",  # row 57: softmax leaks
    "output-shorter-than-mask": "depends",  # row 58: total_length=T
    "pooling-over-filler": "false",  # row 59
    "three-means": "false",  # row 60: 1.40, 2.00, 0.875
}
with_batch = asking(BY_KEY)


def test_rows_54_to_60_have_one_entry_each() -> None:
    assert sorted(row for entry in ENTRIES for row in entry.rows) == list(range(54, 61))
    assert EXPECTED.keys() == BY_KEY.keys()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_the_verdict_is_the_known_one(entry: Entry) -> None:
    assert answer(entry).outcome.verdict == EXPECTED[entry.key]


def test_packed_loss_and_ignore_index_are_one_number_and_it_is_told() -> None:
    done = answer(BY_KEY["packing-or-ignore-index"])
    logits, targets = done.fixed["logits"], done.fixed["targets"]
    kept = targets != -100
    assert int(kept.sum()) == int(done.fixed["lengths"].sum()) < targets.numel()
    loss = F.cross_entropy(logits[kept], targets[kept]).detach()
    torch.testing.assert_close(done.fixed.value.detach(), loss)
    assert done.outcome.told.count(f"{float(loss):.4f}") == 2
    assert f"{done.broken.value.item():.4f}" in done.outcome.told
    assert not torch.isclose(done.broken.value.detach(), loss)


def test_in_two_directions_ignore_index_gives_another_loss_than_packing() -> None:
    done = with_batch("packing-or-ignore-index", "1 2 3 4\n5 7\n8", Config(bidirectional=True))
    assert not done.outcome.cases["for the loss"]
    assert done.outcome.verdict == "false"


def test_without_pads_packing_and_ignore_index_do_the_same() -> None:
    assert with_batch("packing-or-ignore-index", "1 2\n3 4\n5 7").outcome.verdict == "true"


def test_packed_losses_are_the_masked_ones_in_another_order() -> None:
    done = answer(BY_KEY["packing-logits-and-targets"])
    picked = done.fixed["logits"][done.fixed["valid"]]
    packed = done.broken["logits"]
    assert not torch.equal(packed, picked)
    assert sorted(packed.tolist()) == sorted(picked.tolist())


def test_a_mask_that_picks_other_cells_gives_another_loss() -> None:
    entry = BY_KEY["packing-logits-and-targets"]
    other = replace(entry, fixed=entry.fixed.replace("< lengths", "<= lengths"))
    assert answer(other).outcome.verdict == "true"


def test_data_of_a_tensor_is_all_of_the_tensor_without_its_gradient() -> None:
    done = answer(BY_KEY["data-after-unpacking"])
    rows, output = done.broken["rows"], done.broken["output"]
    assert torch.equal(rows, output)
    assert output.requires_grad
    assert not rows.requires_grad
    assert f"{len(done.fixed['packed'].data)} packed rows" in done.outcome.told


def test_without_pads_both_have_as_many_rows() -> None:
    done = with_batch("data-after-unpacking", "1 2\n3 4")
    assert done.outcome.cases == {"for the number of rows": True, "for the gradients": False}


def test_attention_leaks_as_much_as_the_comparison_of_the_same_run_says() -> None:
    done = answer(BY_KEY["attention-to-pads"])
    told = attention(trace(Batch.parse(done.entry.batch), done.entry.config))
    torch.testing.assert_close(done.broken.value.detach(), told.unmasked)
    torch.testing.assert_close(done.fixed.value.detach(), told.masked)
    assert f"{100 * float(told.leaks.max()):.1f} %" in done.outcome.told


def test_attention_leaks_nowhere_without_pads() -> None:
    assert with_batch("attention-to-pads", "1 2\n3 4").outcome.verdict == "true"


def test_unpacked_output_is_as_wide_as_the_longest_sequence_alone() -> None:
    done = answer(BY_KEY["output-shorter-than-mask"])
    x, lengths = done.fixed["x"], done.fixed["lengths"]
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    assert pad_packed_sequence(packed, batch_first=True)[0].size(1) == 3
    assert pad_packed_sequence(packed, batch_first=True, total_length=x.size(1))[0].size(1) == 5
    assert done.broken.error is not None
    assert "5 columns wide, the output 3" in done.outcome.told


def test_pooling_without_filler_is_pooling_each_sequence_alone() -> None:
    done = answer(BY_KEY["pooling-over-filler"])
    gru = done.fixed["gru"]
    for b, sequence in enumerate(done.fixed["sequences"]):
        alone = gru(sequence[None, :, None])[0]
        torch.testing.assert_close(done.fixed.value[b], torch.cat([alone.mean(1), alone.amax(1)], 1)[0])


def test_with_relu_a_zero_beats_no_output_and_the_max_is_right() -> None:
    entry = BY_KEY["pooling-over-filler"]
    programs = {name: getattr(entry, name).replace("gru(", "rnn(") for name in ("broken", "fixed")}
    config = Config(cell="rnn", nonlinearity="relu", hidden_size=2)
    assert answer(replace(entry, config=config, **programs)).outcome.verdict == "depends"


def test_the_three_means_are_those_of_the_numbers() -> None:
    done = answer(BY_KEY["three-means"])
    assert done.broken.value.item() == 0.875
    assert [round(mean.item(), 6) for mean in done.fixed.value] == [1.4, 2.0]
    assert all(number in done.outcome.told for number in ("0.875", "1.40", "2.00"))


@pytest.mark.parametrize(("batch", "verdict"), [("1 2\n3 4", "true"), ("2 2 2\n2", "depends"), ("1\n2 3", "false")])
def test_the_means_agree_where_lengths_are_equal_and_partly_where_losses_are(batch: str, verdict: Verdict) -> None:
    assert with_batch("three-means", batch).outcome.verdict == verdict
