"""The forum thread's claims: each verdict as it was found out before, and each number as torch gives it."""

import pytest
import torch
from entry_cases import answered, asking, unfailing, verdicts
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from packviz.config import Config
from packviz.questions.answer import Answer
from packviz.questions.entries.forum_thread import ENTRIES
from packviz.questions.model import Entry

ENTRY = {entry.key: entry for entry in ENTRIES}
EXPECTED = {
    "forum-3x3": "false",  # (6, 1) is right
    "forum-wrong-shape": "false",  # muddled: the wrong shape is the one that gives 3x3, and it is corrupt
    "forum-posted-code": "false",
    "forum-longtensor": "depends",  # half: it packs, and cannot enter an RNN
    "forum-size-sent": "false",
    "forum-why-818": "true",
    "forum-3x1-and-1x1": "false",  # one 4x1 tensor, batch_sizes [2, 1, 1]
    "forum-fixed-length": "false",
    "forum-padding-by-hand": "false",  # rightly denied in the thread
    "forum-last-valid": "true",
    "forum-quite-small": "false",  # unsupported: one pad moved h by a large part of its norm
    "forum-loss": "depends",  # one direction equal, both directions differ
    "forum-zero-sequence": "false",
    "forum-already-padded": "true",
    "forum-fresh-state": "false",  # backwards
    "forum-random-start": "depends",  # no evidence there; here it depends on the seed
    "forum-carry-state": "depends",
    "forum-chatbot-state": "false",
    "forum-seq2seq": "false",  # too narrow
    "forum-order-of-steps": "true",
    "forum-which-output": "depends",
}
EQUAL = "1 2 3\n4 5 6\n7 8 9"
asked = asking(ENTRY)


def done(key: str) -> Answer:
    return answered(ENTRY[key])


def floats(*sequences: list[float]) -> list[torch.Tensor]:
    return [torch.tensor(sequence, dtype=torch.float32) for sequence in sequences]


def gru_of(entry: Entry) -> nn.GRU:
    torch.manual_seed(entry.config.seed)
    return nn.GRU(1, entry.config.hidden_size, batch_first=True)


test_the_verdict_is_the_one_that_was_found_out_before = verdicts(ENTRY, EXPECTED, answered)
test_no_fixed_program_fails = unfailing(ENTRY)


def test_every_claim_has_an_expected_verdict() -> None:
    assert set(ENTRY) == set(EXPECTED)


@pytest.mark.parametrize(("key", "batch", "verdict"), [
    ("forum-3x3", "1\n2\n3", "true"),  # one token each: rows and cells are the same
    ("forum-padding-by-hand", EQUAL, "true"),
    ("forum-loss", EQUAL, "true"),  # no pads, nothing that a backward half could read first
    ("forum-loss", "1 2 3\n1", "depends"),
    ("forum-zero-sequence", "0 0 0\n0", "true"),
    ("forum-chatbot-state", "1 2 3", "true"),  # one dialogue
    ("forum-seq2seq", EQUAL, "true"),  # nothing to leave out for anybody
    ("forum-which-output", EQUAL, "true"),
    ("forum-3x1-and-1x1", "1 2 3", "true"),  # one sequence is one part
    ("forum-carry-state", "1 2 3\n1 2 3", "depends"),
])  # fmt: skip
def test_another_batch_gives_the_verdict_of_that_batch(key: str, batch: str, verdict: str) -> None:
    assert asked(key, batch).outcome.verdict == verdict


def test_with_equal_texts_it_does_not_matter_whose_state_is_carried() -> None:
    cases = asked("forum-carry-state", "1 2 3\n1 2 3").outcome.cases
    assert cases == {
        "where row b goes on with its own text": True,
        "where row b is another text": True,
        "at the start of an epoch": False,
    }


def test_without_biases_padding_changes_no_gradient_in_either_direction() -> None:
    assert asked("forum-loss", config=Config(bias=False)).outcome.verdict == "true"


def test_data_has_a_row_for_each_token() -> None:
    packed = pack_padded_sequence(torch.zeros(3, 3, 1), [3, 2, 1], batch_first=True)
    assert f"`packed.data` is {tuple(packed.data.shape)}" in done("forum-3x3").outcome.told


def test_the_shape_b_1_t_packs_without_an_error_and_is_torn() -> None:
    wrong = torch.tensor([[[1.0, 2, 3]], [[4, 5, 0]], [[6, 0, 0]]])
    packed = pack_padded_sequence(wrong, [3, 2, 1], batch_first=True)
    assert packed.data.shape == (3, 3)
    told = done("forum-wrong-shape").outcome.told
    assert f"{len(packed.data)} rows, while `batch_sizes` {packed.batch_sizes.tolist()} count 6" in told
    with pytest.raises(RuntimeError, match=r"start \(3\) \+ length \(2\)") as raised:
        nn.RNN(3, 2)(packed)
    assert f"RuntimeError: {raised.value}" in told
    assert f"RuntimeError: {raised.value}" in ENTRY["forum-wrong-shape"].messages


def test_the_posted_code_ends_in_the_message_that_torch_raises() -> None:
    with pytest.raises(RuntimeError) as raised:
        torch.zeros(3, 3, 1)[0] = torch.FloatTensor([1, 2, 3])
    assert done("forum-posted-code").broken.error == f"RuntimeError: {raised.value}"
    assert "[1.0, 1.0, 1.0, 2.0, 2.0, 3.0]" in done("forum-posted-code").outcome.told


def test_whole_numbers_and_one_dimension_are_both_refused_by_a_gru() -> None:
    ids = torch.LongTensor([[1, 2, 3], [4, 5, 0], [6, 0, 0]])
    packed = pack_padded_sequence(ids, [3, 2, 1], batch_first=True)
    with pytest.raises(ValueError, match="does not match weight dtype") as dtype:
        nn.GRU(1, 4)(packed)
    with pytest.raises(RuntimeError) as dims:
        nn.GRU(1, 4)(packed._replace(data=packed.data.float()))
    # the list of known questions has the second message alone; torch 2.13 refuses the dtype first
    assert ENTRY["forum-longtensor"].messages == (f"ValueError: {dtype.value}", f"RuntimeError: {dims.value}")
    assert str(packed.data.tolist()) in done("forum-longtensor").outcome.told
    assert f"RuntimeError: {dims.value}" in done("forum-longtensor").outcome.told


def test_818_is_the_sum_of_lengths_and_of_batch_sizes() -> None:
    found = done("forum-why-818").fixed
    assert found["lengths"].shape == (100,)
    assert int(found["lengths"].sum()) == int(found["packed"].batch_sizes.sum()) == len(found["packed"].data) == 818
    assert found["packed"].data.shape == (818, 200)
    assert "add up to 818" in done("forum-why-818").outcome.told
    assert "(818, 200) came out" in done("forum-size-sent").outcome.told


def test_lengths_3_and_1_make_one_tensor_of_four_rows() -> None:
    packed = pack_padded_sequence(torch.zeros(2, 3, 1), [3, 1], batch_first=True)
    told = done("forum-3x1-and-1x1").outcome.told
    assert f"one tensor `data` of {tuple(packed.data.shape)}" in told
    assert str(packed.batch_sizes.tolist()) in told
    assert done("forum-3x1-and-1x1").fixed.value == [(3, 1), (1, 1)]
    assert "gives back [(3, 1), (1, 1)]" in told


def test_the_final_state_of_the_row_1_0_0_is_another_one_padded_than_packed() -> None:
    sequences = floats([1, 2, 3], [1, 2], [1])
    found = done("forum-padding-by-hand").fixed
    x, cell = pad_sequence(sequences, batch_first=True)[:, :, None], found["cell"]
    _, padded = cell(x)
    _, alone = cell(torch.tensor([[[1.0]]]))
    told = done("forum-padding-by-hand").outcome.told
    assert f"ends at {padded[0, 2, 0]:.4f} instead of {alone[0, 0, 0]:.4f}" in told
    assert "Not as packed: B, C." in told


def test_the_last_state_of_each_packed_sequence_is_the_one_that_it_has_alone() -> None:
    gru = gru_of(ENTRY["forum-last-valid"])
    alone = torch.stack([gru(s[None, :, None])[1][0, 0] for s in floats([1, 2, 3], [4, 5], [6])])
    torch.testing.assert_close(done("forum-last-valid").fixed.value, alone.detach())
    assert not torch.allclose(done("forum-last-valid").broken.value[2], alone[2])


def test_one_pad_moves_the_state_by_the_share_that_is_told() -> None:
    sequences = floats([0.5, -1, 0.8, 0.3], [-0.7, 0.9, 0.4, 1], [1, 0.2, -0.6])
    gru_of(ENTRY["forum-quite-small"])  # the preparation's; the program's twenty come after it
    moved = []
    for _ in range(20):
        gru = nn.GRU(1, 4, batch_first=True)
        for sequence in sequences:
            h = gru(sequence[None, :, None])[1].detach()
            late = gru(torch.cat([sequence, torch.zeros(1)])[None, :, None])[1].detach()
            moved.append(float((late - h).norm() / h.norm()))
    share = torch.tensor(moved).median().item()
    assert share > 0.1
    assert f"{100 * share:.0f} % (nn.GRU)" in done("forum-quite-small").outcome.told


def test_after_many_zeros_one_pad_more_has_a_small_effect() -> None:
    assert asked("forum-quite-small", " ".join(["0"] * 20)).outcome.verdict == "true"


def test_a_masked_loss_has_the_same_gradients_in_one_direction_only() -> None:
    sequences = floats([2, -1, 3, 1], [-2, 3, 1], [3, 1])
    x, mask = pad_sequence(sequences, batch_first=True)[:, :, None], torch.arange(4) < torch.tensor([[4], [3], [2]])
    for both in (False, True):
        gru = nn.GRU(1, 4, batch_first=True, bidirectional=both)
        padded = torch.autograd.grad(gru(x)[0][mask].square().mean(), list(gru.parameters()))
        rows = gru(pack_padded_sequence(x, [4, 3, 2], batch_first=True))[0].data
        packed = torch.autograd.grad(rows.square().mean(), list(gru.parameters()))
        same = all(torch.allclose(one, other, atol=1e-6) for one, other in zip(padded, packed, strict=True))
        assert same == done("forum-loss").outcome.cases["in both directions" if both else "in one direction"] != both
    found = done("forum-loss")
    assert (found.broken.value - found.fixed.value).abs().max() > 1e-4
    assert torch.equal(found.broken["gru"].bias_hh_l0_reverse, found.fixed["gru"].bias_hh_l0_reverse)


def test_over_many_pads_every_start_ends_at_the_same_point() -> None:
    gru = gru_of(ENTRY["forum-zero-sequence"])
    some = torch.cat([torch.tensor([2.0]), torch.zeros(100)])[None, :, None]
    assert torch.allclose(gru(some)[1], gru(some * 0)[1], atol=1e-5)
    assert not torch.allclose(gru(some)[0][0, :4], gru(some * 0)[0][0, :4], atol=1e-3)
    assert "both go to the same resting point" in done("forum-zero-sequence").outcome.told


def test_a_call_without_a_state_starts_from_zeros() -> None:
    gru = gru_of(ENTRY["forum-fresh-state"])
    x = pad_sequence(floats([1, 2, 3], [4, 5], [6]), batch_first=True)[:, :, None]
    _, first = gru(x)
    _, carried = gru(x, first)
    assert torch.equal(gru(x)[1], gru(x, torch.zeros(1, 3, 4))[1])
    assert f"by up to {float((carried - first).detach().abs().max()):.2f}" in done("forum-fresh-state").outcome.told


def test_random_starts_change_what_a_training_ends_with() -> None:
    zeros, randn = done("forum-random-start").fixed, done("forum-random-start").broken
    assert not torch.equal(zeros["gru"].weight_hh_l0, randn["gru"].weight_hh_l0)
    assert torch.equal(zeros["x"], randn["x"])  # the same sequences to learn
    seen, new = (100 * part.mean().item() for part in zeros["right"].split([20, 200]))
    assert zeros.value == pytest.approx((seen / 100, new / 100))
    assert "cannot show what yours will do" in done("forum-random-start").outcome.told


def test_a_carried_state_makes_two_halves_one_text() -> None:
    gru = gru_of(ENTRY["forum-carry-state"])
    x = torch.tensor([[1.0, -2, 3, 1], [2, 1, -1, 2]])[:, :, None]
    _, half = gru(x[:, :2])
    torch.testing.assert_close(gru(x[:, 2:], half)[1], gru(x)[1])
    assert "the second `backward()` fails" in done("forum-carry-state").outcome.told
    half.sum().backward()
    with pytest.raises(RuntimeError) as raised:
        gru(x[:, 2:], half)[1].sum().backward()
    assert ENTRY["forum-carry-state"].messages == (f"RuntimeError: {raised.value}",)


def test_every_dialogue_needs_a_row_of_the_state() -> None:
    x, gru = torch.zeros(3, 3, 1), nn.GRU(1, 4, batch_first=True)
    with pytest.raises(RuntimeError) as padded:
        gru(x, torch.zeros(1, 1, 4))
    with pytest.raises(RuntimeError) as packed:
        gru(pack_padded_sequence(x, [2, 3, 1], True, enforce_sorted=False), torch.zeros(1, 1, 4))
    assert ENTRY["forum-chatbot-state"].messages == (f"RuntimeError: {packed.value}", f"RuntimeError: {padded.value}")


def test_an_embedding_takes_no_packed_sequence_and_packing_no_list() -> None:
    packed = pack_padded_sequence(torch.zeros(1, 1, dtype=torch.int64), [1], batch_first=True)
    with pytest.raises(TypeError) as embedding:
        nn.Embedding(3, 2)(packed)
    with pytest.raises(TypeError) as listed:
        pack_padded_sequence([torch.ones(2), torch.ones(1)], torch.tensor([2, 1]), batch_first=True)  # type: ignore[arg-type]
    assert done("forum-order-of-steps").broken.error == f"TypeError: {embedding.value}"
    assert done("forum-already-padded").broken.error == f"TypeError: {listed.value}"


def test_the_last_column_is_filler_for_all_but_the_longest() -> None:
    gru = gru_of(ENTRY["forum-which-output"])
    x = pad_sequence(floats([1, 2], [3, 4, 5], [6]), batch_first=True)[:, :, None]
    output, h_n = gru(pack_padded_sequence(x, [2, 3, 1], True, enforce_sorted=False))
    column = pad_packed_sequence(output, batch_first=True)[0][:, -1]
    right = [torch.equal(row, state) for row, state in zip(column, h_n[-1], strict=True)]
    assert list(done("forum-which-output").outcome.cases.values()) == right == [False, True, False]
    assert torch.equal(done("forum-which-output").fixed.value, h_n[-1])
