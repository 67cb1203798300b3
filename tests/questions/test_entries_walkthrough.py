"""Text that pads and packs step by step: the verdicts of its claims, and torch itself as the judge."""

import re

import pytest
import torch
from entry_cases import UNEVEN, asking, packed_of, padded, pads_of, panels_of, typed, unheard, verdicts
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from packviz.config import Config
from packviz.questions.entries import walkthrough

ENTRIES = {entry.key: entry for entry in walkthrough.ENTRIES}
EXPECTED = {  # in the order of the text's table, then what it leaves open
    "walkthrough-most-results": "false",  # 3 of 9
    "walkthrough-zero-results": "false",  # bias, and a random vector of index 0
    "walkthrough-multiplications": "depends",  # the count is for a W of one column
    "walkthrough-no-padding": "false",  # it pads first, then packs
    "walkthrough-list-input": "depends",  # of pack_sequence; the code calls pack_padded_sequence
    "walkthrough-only-needed": "depends",  # cells yes, sequential steps no
    "walkthrough-numpy-lengths": "false",  # works, unnecessary
    "walkthrough-transposed": "true",
    "walkthrough-inverse": "depends",  # T == max(lengths), right padding, pads equal padding_value
    "walkthrough-ht-last": "depends",  # print(ht[-1]) is not explained
    "walkthrough-ht-or-output": "depends",  # open
    "walkthrough-padding-idx": "false",  # open
    "walkthrough-loss": "false",  # open
}
MEASURED = "walkthrough-time-saved"  # its verdict is what this machine gives
asked = asking(ENTRIES)


def module(hidden_size: int = 4, **settings: object) -> nn.GRU:
    torch.manual_seed(0)
    return nn.GRU(1, hidden_size, batch_first=True, **settings).requires_grad_(False)


def test_every_claim_of_the_text_is_an_entry_of_one_group() -> None:
    assert set(ENTRIES) == {*EXPECTED, MEASURED}
    assert {(entry.group, entry.rows) for entry in ENTRIES.values()} == {(walkthrough.GROUP, ())}


test_the_verdict_is_the_one_that_was_found_before = verdicts(ENTRIES, EXPECTED)


@pytest.mark.parametrize("key", [key for key, entry in ENTRIES.items() if entry.messages])
def test_every_message_is_raised_by_the_broken_program_or_told(key: str) -> None:
    assert unheard(asked(key)) == []


@pytest.mark.parametrize("lengths", [*UNEVEN, [5, 1, 1], [2, 2]])
def test_the_lengths_decide_whether_most_results_are_thrown_away(lengths: list[int]) -> None:
    outcome = asked("walkthrough-most-results", batch=typed(lengths)).outcome
    pads, cells = len(pads_of(lengths)), padded(lengths).numel()
    assert outcome.verdict == ("true" if pads > cells - pads else "false")
    assert f"{pads} of {cells} are thrown away" in outcome.told
    assert panels_of(outcome)[0].wrong == pads_of(lengths)


def test_results_at_the_pads_are_not_0_whatever_the_pads_are() -> None:
    told = asked("walkthrough-zero-results").outcome.told
    torch.manual_seed(0)
    embedding = nn.Embedding(7, 2)
    gru = nn.GRU(2, 4, batch_first=True)
    ids = pad_sequence([torch.tensor(row) for row in ([1, 2], [3], [4, 5, 6])], batch_first=True)
    with torch.no_grad():
        output, idle = gru(embedding(ids))[0], gru(torch.zeros(3, 3, 2))[0]
    assert f"with outputs up to {output[ids == 0].abs().max():.2f}" in told
    assert f"vectors of zeros alone lead to outputs up to {idle.abs().max():.2f}" in told
    assert f"numbers up to {embedding.weight[0].abs().max():.2f}" in told


def test_with_padding_idx_and_no_bias_the_products_are_0_but_not_the_output() -> None:
    cases = asked("walkthrough-zero-results", config=Config(embedding_dim=2, padding_idx=0, bias=False)).outcome.cases
    assert cases == {"for the vector of a pad": True, "for W x + b": True, "for the output": False}


@pytest.mark.parametrize("hidden_size", [1, 2, 4])
def test_multiplications_are_counted_by_the_shape_of_the_weights(hidden_size: int) -> None:
    done = asked("walkthrough-multiplications", config=Config(hidden_size=hidden_size))
    gru = module(hidden_size)
    assert done.broken.value == 9
    assert done.fixed.value == 9 * (gru.weight_ih_l0.numel() + gru.weight_hh_l0.numel())
    assert f"takes {done.fixed.value}: its `weight_ih_l0` is {tuple(gru.weight_ih_l0.shape)}" in done.outcome.told
    assert "9 multiplications and 6 additions" in done.outcome.told


@pytest.mark.parametrize("lengths", [[2, 3], [1, 3, 2, 1], [4, 1, 2]])
def test_both_ways_of_packing_make_a_padded_tensor_first(lengths: list[int]) -> None:
    done = asked("walkthrough-no-padding", batch=typed(lengths))
    B, T = len(lengths), max(lengths)
    assert done.outcome.verdict == "false"
    assert f"`pack_padded_sequence` [({B}, {T})]" in done.outcome.told
    assert f"`pack_sequence` [({T}, {B})]" in done.outcome.told
    assert f"{sum(lengths)} rows of {B * T} cells" in done.outcome.told
    assert torch.equal(done.fixed.value, packed_of(lengths).data[:, 0])


@pytest.mark.parametrize("lengths", UNEVEN)
def test_pack_sequence_alone_takes_the_list(lengths: list[int]) -> None:
    done = asked("walkthrough-list-input", batch=typed(lengths))
    assert done.outcome.cases == {"for pack_padded_sequence": False, "for pack_sequence": True}
    assert torch.equal(done.fixed.value, packed_of(lengths).data[:, 0])
    assert "both are the same" in done.outcome.told


@pytest.mark.parametrize("lengths", [*UNEVEN, [2, 2, 2]])
def test_packing_spares_rows_but_no_time_steps(lengths: list[int]) -> None:
    outcome = asked("walkthrough-only-needed", batch=typed(lengths)).outcome
    sizes = packed_of(lengths).batch_sizes.tolist()
    pads = len(pads_of(lengths))
    assert outcome.cases == {"for the rows": pads > 0, "for the time steps": False}
    assert f"spares {pads} of {padded(lengths).numel()} rows" in outcome.told
    assert f"0 of {len(sizes)} time steps" in outcome.told
    assert str(sizes) in outcome.told


def test_the_verdict_on_time_follows_from_the_measured_times() -> None:
    outcome = asked(MEASURED).outcome
    times = {
        cell: (float(padded_ms), float(packed_ms))
        for cell, padded_ms, packed_ms in re.findall(r"(GRU|LSTM) ([\d.]+) ms padded, ([\d.]+) ms packed", outcome.told)
    }
    assert set(outcome.cases) == {f"for nn.{cell} here" for cell in times} == {"for nn.GRU here", "for nn.LSTM here"}
    assert outcome.chart is not None
    (measured,) = outcome.chart.of
    for (cell, (padded_ms, packed_ms)), each in zip(times.items(), measured, strict=True):
        saved = outcome.cases[f"for nn.{cell} here"]
        assert saved == (
            each.packed.median < each.padded.median and not each.padded.overlaps(each.packed) and each.differs
        )
        assert padded_ms == pytest.approx(each.padded.median, abs=0.0051)
        assert packed_ms == pytest.approx(each.packed.median, abs=0.0051)


@pytest.mark.parametrize("lengths", UNEVEN)
def test_lengths_need_not_be_an_array(lengths: list[int]) -> None:
    done = asked("walkthrough-numpy-lengths", batch=typed(lengths))
    assert torch.equal(done.broken.value, packed_of(lengths).data[:, 0])
    assert torch.equal(done.fixed.value, done.broken.value)
    assert "give the same." in done.outcome.told


@pytest.mark.parametrize("lengths", UNEVEN)
def test_unpacked_output_is_time_major_without_the_flag(lengths: list[int]) -> None:
    done = asked("walkthrough-transposed", batch=typed(lengths))
    unpacked, _ = pad_packed_sequence(module()(packed_of(lengths))[0])
    assert done.outcome.verdict == "true"
    assert tuple(unpacked.shape[:2]) == tuple(done.broken.value.shape)
    assert torch.allclose(done.broken.value, unpacked[..., 0], atol=1e-6)
    assert torch.equal(done.fixed.value, done.broken.value.T)


def test_unpacking_is_the_inverse_on_four_conditions() -> None:
    outcome = asked("walkthrough-inverse").outcome
    assert outcome.cases == {
        "for the batch as it is": True,
        "for a column to spare": False,
        "for padding on the left": False,
        "for pads of -1": False,
    }
    left = torch.tensor([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0], [4.0, 5.0, 6.0]])
    packed = pack_padded_sequence(left, torch.tensor([2, 1, 3]), batch_first=True, enforce_sorted=False)
    lost = sorted(set(left.flatten().tolist()) - set(packed.data.tolist()))
    assert f"the tokens {lost} do not come back" in outcome.told


def test_without_pads_only_a_column_to_spare_is_lost() -> None:
    cases = asked("walkthrough-inverse", batch="1 2\n3 4").outcome.cases
    assert [name for name, held in cases.items() if not held] == ["for a column to spare"]


@pytest.mark.parametrize("lengths", UNEVEN)
def test_ht_of_both_directions_ends_with_the_backward_half(lengths: list[int]) -> None:
    done = asked("walkthrough-ht-last", batch=typed(lengths))
    h_n = module(2, bidirectional=True)(packed_of(lengths))[1]
    assert list(done.outcome.cases.values()) == [True, True, False]
    assert torch.allclose(done.broken.value, h_n[1], atol=1e-6)
    assert torch.allclose(done.fixed.value, torch.cat([h_n[0], h_n[1]], 1), atol=1e-6)
    assert "not the backward half" not in done.outcome.told


@pytest.mark.parametrize("lengths", UNEVEN)
def test_the_output_lacks_the_states_of_the_lower_layer(lengths: list[int]) -> None:
    outcome = asked("walkthrough-ht-or-output", batch=typed(lengths)).outcome
    gru = module(2, num_layers=2)
    output, h_n = gru(packed_of(lengths))
    missing = [state for state in h_n.flatten(0, 1) if not (output.data - state).abs().amax(1).le(1e-6).any()]
    assert list(outcome.cases.values()) == [True, False, True]
    assert f"Here {len(missing)} of {2 * len(lengths)} states" in outcome.told


def test_index_0_is_a_vector_of_zeros_with_padding_idx_alone() -> None:
    plain = asked("walkthrough-padding-idx")
    torch.manual_seed(0)
    weight = nn.Embedding(7, 2).weight.detach()
    assert [list(row) for row in panels_of(plain.outcome)[0].values] == weight.double().tolist()
    assert plain.broken.value.any()
    assert not plain.fixed.value.any()
    assert "the gradient of row 0 is [0.00, 0.00]" in plain.outcome.told
    zero = asked("walkthrough-padding-idx", config=Config(embedding_dim=2, padding_idx=0))
    assert zero.outcome.verdict == "true"


@pytest.mark.parametrize("lengths", UNEVEN)
def test_the_loss_of_packed_targets_is_the_one_that_ignores_the_pads(lengths: list[int]) -> None:
    done = asked("walkthrough-loss", batch=typed(lengths))
    output, _ = pad_packed_sequence(module()(packed_of(lengths))[0], batch_first=True)
    targets = padded(lengths)[..., 0].long() % 4
    pads = torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None]
    loss = nn.CrossEntropyLoss()
    ignoring = loss(output.flatten(0, 1), targets.masked_fill(pads, -100).flatten()).item()
    assert done.fixed.value.item() == pytest.approx(ignoring, abs=1e-6)
    assert done.broken.value.item() == pytest.approx(loss(output.flatten(0, 1), targets.flatten()).item(), abs=1e-6)
    assert done.outcome.verdict == "false"
    assert done.outcome.told.count(f"{ignoring:.4f}") == 2


def test_without_pads_the_loss_can_take_the_output_as_it_is() -> None:
    assert asked("walkthrough-loss", batch="1 2\n3 4").outcome.verdict == "true"
