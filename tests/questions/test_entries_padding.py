"""Entries 46 to 53, on what padding does: their verdicts, and torch as the judge of what they tell."""

import random
from dataclasses import replace

import pytest
import torch
from entry_cases import asking, sequences_of
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from packviz.questions.answer import answer
from packviz.questions.entries.padding import ENTRIES
from packviz.questions.model import Entry, Verdict

BY_ROW = {entry.rows[0]: entry for entry in ENTRIES}
EXPECTED: dict[int, Verdict] = {
    46: "false",  # one pad moved the final state by 43 to 107 %
    47: "false",  # zero input still changes the state; the row is zeros until overwritten
    48: "false",  # statistics include pads
    49: "depends",  # pointwise layers can run on .data; what mixes time steps cannot
    50: "depends",  # no effect with num_layers=1
    51: "false",  # silently takes pads, drops tokens
    52: "false",  # padding_side="left" exists
    53: "depends",  # padded without a mask and padding_idx: yes; packed: exactly 0
}
EQUAL = "4 5 6\n2 3 1\n7 9 8"
changed = asking(BY_ROW)


def tokens(entry: Entry) -> list[Tensor]:
    return sequences_of(entry.batch)


def test_there_is_one_entry_for_each_row() -> None:
    assert sorted(row for entry in ENTRIES for row in entry.rows) == list(EXPECTED)


@pytest.mark.parametrize("row", EXPECTED)
def test_each_verdict_is_the_one_of_the_checked_list(row: int) -> None:
    assert answer(BY_ROW[row]).outcome.verdict == EXPECTED[row]


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_one_pad_moves_the_state_by_the_share_that_is_told(kind: type[nn.RNNBase]) -> None:
    entry = BY_ROW[46]
    torch.manual_seed(0)
    module = kind(1, 4, batch_first=True)
    shares = []
    with torch.no_grad():
        for one in tokens(entry):
            states = [module(given[None, :, None])[0][0, -1] for given in (one, torch.cat([one, torch.zeros(1)]))]
            shares.append(100 * float((states[1] - states[0]).norm() / states[0].norm()))
    assert f"{kind.__name__} {min(shares):.0f} to {max(shares):.0f} %" in answer(entry).outcome.told
    assert min(shares) > 10


def test_a_state_that_has_come_to_rest_on_zeros_is_not_moved_by_one_zero_more() -> None:
    assert changed(46, f"{'0 ' * 60}\n{'0 ' * 50}").outcome.verdict == "true"


def test_a_zero_vector_moves_the_state_with_biases_and_without() -> None:
    entry = BY_ROW[47]
    told = answer(entry).outcome.told
    for bias, words in ((True, "moves A's h by "), (False, "`bias=False` by ")):
        torch.manual_seed(0)
        embedding = nn.Embedding(7, 4, padding_idx=0)
        gru = nn.GRU(4, 4, bias=bias, batch_first=True)
        with torch.no_grad():
            before, after = (gru(embedding(torch.tensor([row])))[1] for row in ([1, 2], [1, 2, 0]))
        assert float((after - before).norm()) > 0
        assert f"{words}{float((after - before).norm()):.2g}" in told


def test_a_state_of_zeros_stays_where_no_bias_and_no_token_but_zeros_comes() -> None:
    outcome = changed(47, "0 0 0\n0 0", embedding_dim=4).outcome
    assert outcome.cases["with bias=False"]
    assert not outcome.cases["with bias=True"]


def test_padding_idx_keeps_no_zeros_that_are_written_over() -> None:
    embedding = nn.Embedding(7, 4, padding_idx=0)
    assert not embedding.weight[0].any()
    nn.init.normal_(embedding.weight)
    assert embedding.weight[0].any()
    assert "and that of its gradient 0:" in answer(BY_ROW[47]).outcome.told


def test_without_padding_idx_the_row_is_told_not_to_be_zeros() -> None:
    assert "The row is not zeros" in changed(47, padding_idx=None).outcome.told


@pytest.mark.parametrize("seed", range(6))
def test_batch_norm_counts_the_pads_and_packed_data_has_none(seed: int) -> None:
    draw = random.Random(seed)
    rows = [[draw.randint(1, 9) for _ in range(length)] for length in (2, 4, 1)]
    done = changed(48, "\n".join(" ".join(map(str, row)) for row in rows))
    sequences = tokens(done.entry)
    grid, data = pad_sequence(sequences, batch_first=True), torch.cat(sequences)
    for program, values in ((done.broken, grid.flatten()), (done.fixed, data)):
        norm = nn.BatchNorm1d(1, momentum=1.0)
        norm(values[:, None])
        assert torch.allclose(program.value[0], norm.running_mean)
        assert torch.allclose(program.value[1], norm.running_var)
    assert f"the mean is {float(grid.mean()):.3g}" in done.outcome.told
    assert f"{float(data.mean()):.3g} and {float(data.var()):.3g}" in done.outcome.told


def test_where_there_are_no_pads_batch_norm_takes_the_same_statistics() -> None:
    assert changed(48, EQUAL).outcome.verdict == "true"


@pytest.mark.parametrize("seed", range(6))
def test_a_linear_layer_needs_no_unpacking_and_a_convolution_does(seed: int) -> None:
    done = changed(49, seed=seed)
    assert list(done.outcome.cases.values()) == [False, False, True]
    assert done.broken.error == done.entry.messages[0]
    rows = done.fixed["output"].data
    for row, scored in zip(rows, done.fixed["scores"].data, strict=True):
        assert torch.allclose(done.fixed["linear"](row), scored, atol=1e-6)
    for row, one in zip(done.fixed.value, tokens(done.entry), strict=True):
        alone = done.fixed["linear"](done.fixed["gru"](one[None, :, None])[0])[0, :, 0]
        assert torch.allclose(row[: len(one)], alone, atol=1e-6)


def test_where_there_is_one_sequence_a_convolution_may_run_on_its_data() -> None:
    assert changed(49, "1 -1 2 3").outcome.verdict == "false"


def test_the_strip_is_convolved_across_the_borders_of_sequences() -> None:
    conv = nn.Conv1d(1, 1, 3, padding=1)
    packed = pack_padded_sequence(
        pad_sequence(tokens(BY_ROW[49]), batch_first=True), torch.tensor([2, 3, 1]), True, False
    )
    mixed = conv(packed.data[None, None])[0, 0]
    alone = torch.cat([conv(one[None, None])[0, 0] for one in tokens(BY_ROW[49])])
    assert not torch.allclose(mixed.sort().values, alone.sort().values, atol=1e-5)


def test_torch_warns_of_dropout_with_one_layer_in_these_words() -> None:
    with pytest.warns(UserWarning, match="dropout option adds dropout") as said:
        nn.GRU(1, 3, dropout=0.5)
    done = answer(BY_ROW[50])
    assert done.entry.messages == (f"UserWarning: {said[0].message}",)
    assert done.broken.warnings == done.entry.messages
    assert not done.fixed.warnings


def test_with_two_layers_dropout_drops() -> None:
    entry = BY_ROW[50]
    deeper = entry.broken.replace("nn.GRU(1, 3, ", "nn.GRU(1, 3, num_layers=2, ")
    assert deeper != entry.broken
    assert answer(replace(entry, broken=deeper)).outcome.cases["with num_layers=1"]


def test_dropout_of_its_own_drops_what_is_told() -> None:
    done = answer(BY_ROW[50])
    longest = done.fixed["again"][int(done.fixed["lengths"].argmax())]
    assert f"{int((longest == 0).sum())} of the {longest.numel()} numbers of B" in done.outcome.told
    assert 0 < int((longest == 0).sum()) < longest.numel()


def test_a_batch_padded_on_the_left_is_packed_with_its_pads() -> None:
    done = changed(51, "4 5 6\n2 3\n1")
    x = torch.tensor([[4.0, 5, 6], [0, 2, 3], [0, 0, 1]])
    assert done.broken.value == pack_padded_sequence(x, torch.tensor([3, 2, 1]), True).data.tolist()
    assert done.broken.value == [4, 0, 0, 5, 2, 6]
    assert "2 of the 6 packed rows are pads" in done.outcome.told
    assert "(3 of B, 1 of C)" in done.outcome.told


@pytest.mark.parametrize("seed", range(8))
def test_as_many_tokens_are_lost_as_pads_are_packed(seed: int) -> None:
    draw = random.Random(seed)
    rows = [[draw.randint(1, 9) for _ in range(draw.randint(1, 5))] for _ in range(4)]
    done = changed(51, "\n".join(" ".join(map(str, row)) for row in rows))
    lengths = torch.tensor([len(row) for row in rows])
    x = pad_sequence(tokens(done.entry), batch_first=True, padding_side="left")
    data = pack_padded_sequence(x, lengths, True, False).data
    assert done.broken.value == data.tolist()
    assert f"{int((data == 0).sum())} of the {len(data)} packed rows" in done.outcome.told
    assert (done.outcome.verdict == "true") == (len(set(lengths.tolist())) == 1)


def test_where_there_are_no_pads_the_side_does_not_matter() -> None:
    assert changed(51, EQUAL).outcome.verdict == "true"


@pytest.mark.parametrize("other", ['padding_side="right"', "padding_value=0.0"])
def test_if_torch_padded_on_the_right_only_the_claim_would_hold(other: str) -> None:
    entry = BY_ROW[52]
    assert answer(replace(entry, fixed=entry.fixed.replace('padding_side="left"', other))).outcome.verdict == "true"


def test_if_torch_refused_the_side_the_claim_would_hold_and_its_words_be_told() -> None:
    entry = BY_ROW[52]
    done = answer(replace(entry, fixed=entry.fixed.replace('"left"', '"top"')))
    assert done.outcome.verdict == "true"
    assert done.fixed.error is not None
    assert done.fixed.error in done.outcome.told


def test_pad_sequence_pads_on_the_left() -> None:
    done = answer(BY_ROW[52])
    assert done.fixed.value.tolist() == [[0, 2, 3], [4, 5, 6], [0, 0, 1]]
    assert torch.equal(done.fixed.value, done.broken.value)


def test_the_row_of_the_pad_has_the_gradient_that_is_told() -> None:
    torch.manual_seed(0)
    embedding, gru = nn.Embedding(7, 4), nn.GRU(4, 4, batch_first=True)
    ids = torch.tensor([[1, 2, 0], [3, 4, 5], [6, 0, 0]])
    gru(embedding(ids))[0].pow(2).sum().backward()
    assert embedding.weight.grad is not None
    done = answer(BY_ROW[53])
    assert torch.allclose(done.broken.value, embedding.weight.grad[0], atol=1e-6)
    assert f"is {float(embedding.weight.grad[0].norm()):.2g} with a loss of all cells" in done.outcome.told
    assert not done.fixed.value.any()


@pytest.mark.parametrize("both", [False, True])
def test_a_mask_on_the_loss_spares_the_row_in_one_direction_alone(both: bool) -> None:
    torch.manual_seed(0)
    embedding, gru = nn.Embedding(7, 4), nn.GRU(4, 4, batch_first=True, bidirectional=both)
    ids = torch.tensor([[1, 2, 0], [3, 4, 5], [6, 0, 0]])
    gru(embedding(ids))[0][ids != 0].pow(2).sum().backward()
    assert embedding.weight.grad is not None
    reached = bool(embedding.weight.grad[0].any())
    assert reached is both
    name = "with a mask on the loss" + " of a bidirectional GRU" * both
    assert answer(BY_ROW[53]).outcome.cases[name] is reached


def test_backward_the_pads_reach_the_tokens_so_a_mask_does_not_spare_the_row() -> None:
    assert list(changed(53, bidirectional=True).outcome.cases.values()) == [True, True, True, False, False]


def test_where_there_are_no_pads_the_row_is_never_trained() -> None:
    assert changed(53, "the cat\na dog").outcome.verdict == "false"
