"""The entries on the lengths: every verdict as PyTorch gives it, and every number that is told."""

import random
from dataclasses import replace

import pytest
import torch
from entry_cases import asking, grid_of, sequences_of, unlisted, verdicts
from torch import Tensor, nn
from torch.nn.utils import rnn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from packviz.questions.answer import answer
from packviz.questions.entries.lengths import ENTRIES
from packviz.questions.entries.origins import cells, origins

BY_KEY = {entry.key: entry for entry in ENTRIES}
EXPECTED = {
    "lengths-on-the-gpu": "false",
    "lengths-on-the-cpu-alone": "false",
    "lengths-in-a-column": "false",
    "length-zero": "false",
    "empty-batch": "false",
    "lengths-too-large": "false",
    "lengths-too-small": "false",
    "lengths-with-pads": "false",
    "lengths-not-whole": "false",
    "zero-is-an-id": "depends",
    # expected to raise always; torch 2.13 leaves the last sequence out without a word where enforce_sorted=False
    "number-of-lengths": "depends",
}
each_seed = pytest.mark.parametrize("seed", range(12))
asked = asking(BY_KEY)


def padded(batch: str) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Return x (B, T, 1), the lengths and the sequences of a batch of numbers, made without packviz."""
    sequences = sequences_of(batch)
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    return grid_of(sequences), lengths, sequences


def random_batch(seed: int, *, least: int = 1) -> str:
    """Return 2 to 4 sequences of different numbers from 1 on, the longest first."""
    draw = random.Random(seed)
    lengths = sorted((draw.randint(least, 6) for _ in range(draw.randint(2, 4))), reverse=True)
    numbers = iter(draw.sample(range(1, 90), sum(lengths)))
    return "\n".join(" ".join(str(next(numbers)) for _ in range(length)) for length in lengths)


def test_the_rows_20_to_30_have_one_entry_each() -> None:
    assert [entry.rows for entry in ENTRIES] == [(row,) for row in range(20, 31)]
    assert set(BY_KEY) == set(EXPECTED)


test_the_verdict_is_that_of_torch = verdicts(BY_KEY, EXPECTED)


@pytest.mark.parametrize("key", EXPECTED)
def test_an_error_of_the_broken_program_is_among_the_messages(key: str) -> None:
    assert unlisted(asked(key)) == []


def test_only_the_lengths_must_be_on_the_cpu() -> None:
    x, lengths, _ = padded(BY_KEY["lengths-on-the-gpu"].batch)
    with pytest.raises(RuntimeError) as refused:
        pack_padded_sequence(x.to("meta"), lengths.to("meta"), batch_first=True)
    told = asked("lengths-on-the-gpu").outcome.told
    assert f"RuntimeError: {refused.value}" in told
    assert "cited, not run here" in told
    assert str(pack_padded_sequence(x.to("meta"), lengths, batch_first=True).batch_sizes.tolist()) in told


@pytest.mark.parametrize("key", ["lengths-on-the-gpu", "lengths-in-a-column", "length-zero", "empty-batch"])
def test_a_program_that_runs_would_change_the_verdict(key: str) -> None:
    mended = replace(BY_KEY[key], broken=BY_KEY[key].fixed + "\ncolumn = lengths[:, None]")
    assert answer(mended).outcome.verdict == "depends"


def test_indices_follow_the_data_and_batch_sizes_stay() -> None:
    x, lengths, _ = padded(BY_KEY["lengths-on-the-cpu-alone"].batch)
    packed = pack_padded_sequence(x.to("meta"), lengths, batch_first=True, enforce_sorted=False)
    assert (packed.data.device.type, packed.batch_sizes.device.type) == ("meta", "cpu")
    with pytest.raises(RuntimeError) as refused:
        nn.GRU(1, 4)(packed)
    done = asked("lengths-on-the-cpu-alone")
    assert str(refused.value) in done.outcome.told
    assert done.fixed.value == (packed.data.device, packed.batch_sizes.device)
    titles = [panel.title for panel in done.outcome.chart.of[0]]
    assert titles == [
        f"data: {packed.data.device}",
        f"sorted_indices: {packed.sorted_indices.device}",
        f"batch_sizes: {packed.batch_sizes.device}",
    ]


def test_a_torch_that_took_a_column_would_be_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(x: Tensor, lengths: Tensor, *rest: bool, **named: bool) -> rnn.PackedSequence:
        return pack_padded_sequence(x, lengths.flatten(), *rest, **named)

    monkeypatch.setattr(rnn, "pack_padded_sequence", lenient)
    assert asked("lengths-in-a-column").outcome.verdict == "true"


def test_a_torch_that_took_empty_sequences_would_be_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(x: Tensor, lengths: Tensor, *rest: bool, **named: bool) -> rnn.PackedSequence:
        return pack_padded_sequence(x, torch.as_tensor(lengths).clamp(min=1), *rest, **named)

    monkeypatch.setattr(rnn, "pack_padded_sequence", lenient)
    assert asked("length-zero").outcome.verdict == "true"


@each_seed
def test_both_repairs_of_an_empty_sequence_give_the_other_states(seed: int) -> None:
    batch = random_batch(seed)
    done = asked("length-zero", batch)
    _, lengths, sequences = padded(batch)
    gru = done.fixed["gru"]
    for b, sequence in enumerate(sequences):
        own = gru(sequence[None, :, None])[1][0, 0] if b != 1 else torch.zeros(4)
        assert torch.allclose(done.fixed.value[b], own, atol=1e-6)
    of_a_pad = ", ".join(f"{value:.2f}" for value in gru(torch.zeros(1, 1, 1))[1].flatten().tolist())
    assert f"[{of_a_pad}]" in done.outcome.told
    assert len(lengths) == len(done.fixed.value)


def test_a_batch_with_something_in_it_can_be_packed() -> None:
    done = asked("empty-batch", "1 2 3 4\n5\n6")
    assert done.outcome.cases["of no sequences"]
    assert done.outcome.verdict == "depends"
    assert done.fixed.value == (1, 1, 4)


def test_a_length_above_T_leaves_batch_sizes_and_data_apart() -> None:
    done = asked("lengths-too-large")
    x, lengths = done.fixed["x"][:, :5], done.fixed["lengths"]
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    assert len(packed.data) < int(packed.batch_sizes.sum())
    said = []
    for call in (lambda: done.fixed["gru"](packed), lambda: pad_packed_sequence(packed)):
        with pytest.raises(RuntimeError) as refused:
            call()
        said.append(f"RuntimeError: {refused.value}")
    assert tuple(said) == done.entry.messages
    assert all(message in done.outcome.told for message in said)
    assert (
        f"`data` has {len(packed.data)} rows, but `batch_sizes` sum to {packed.batch_sizes.sum()}" in done.outcome.told
    )


@each_seed
def test_tokens_beyond_a_length_are_dropped(seed: int) -> None:
    batch = random_batch(seed, least=2)
    x, lengths, sequences = padded(batch)
    rows = pack_padded_sequence(x, lengths - 1, batch_first=True).data.flatten().tolist()
    dropped = [value for value in torch.cat(sequences).tolist() if value not in rows]
    outcome = asked("lengths-too-small", batch).outcome
    assert outcome.verdict == "false"
    assert f": {dropped} are dropped" in outcome.told


def test_a_length_that_falls_to_zero_is_noticed() -> None:
    assert asked("lengths-too-small", "1 2 3\n4").outcome.verdict == "true"


@each_seed
def test_pads_that_the_lengths_count_are_packed(seed: int) -> None:
    batch = random_batch(seed)
    x, lengths, _ = padded(batch)
    done = asked("lengths-with-pads", batch)
    every = torch.full_like(lengths, x.size(1))
    rows = pack_padded_sequence(x, every, batch_first=True).data.flatten()
    assert f"make {len(rows)} rows, and {int((rows == 0).sum())} of them are pads" in done.outcome.told
    states = [
        done.fixed["gru"](pack_padded_sequence(x, each, batch_first=True))[1].detach() for each in (lengths, every)
    ]
    assert f"moves by up to {float((states[0] - states[1]).abs().max()):.2f}" in done.outcome.told
    strip = done.outcome.chart.of[0][1]
    assert {n for _, n in strip.wrong} == set((rows == 0).nonzero().flatten().tolist())


def test_lengths_that_are_not_whole_are_cut_off() -> None:
    x, lengths, _ = padded(BY_KEY["lengths-not-whole"].batch)
    cut = pack_padded_sequence(x, [6, 4.98, 3], batch_first=True)
    told = asked("lengths-not-whole").outcome.told
    assert str(cut.batch_sizes.tolist()) in told
    assert str(pack_padded_sequence(x, lengths, batch_first=True).batch_sizes.tolist()) in told
    lost = set(x.flatten().tolist()) - {0.0} - set(cut.data.flatten().tolist())
    assert f"the tokens {sorted(lost)} are lost" in told


def test_a_share_that_is_cut_to_zero_is_noticed() -> None:
    assert asked("lengths-not-whole", "1 2 3\n4").outcome.verdict == "true"


def test_counting_is_right_where_no_id_is_zero_and_wrong_where_one_is() -> None:
    assert asked("zero-is-an-id", "4 5 6 8\n7 2 9\n3 1").outcome.verdict == "true"
    assert asked("zero-is-an-id", "4 0 6 8\n0 2 9\n3 0").outcome.verdict == "false"
    done = asked("zero-is-an-id")
    packed = pack_padded_sequence(done.fixed["ids"], (done.fixed["ids"] != 0).sum(1), True, enforce_sorted=False)
    assert torch.equal(packed.data, done.broken.value)
    assert 9 in done.fixed.value
    assert 9 not in packed.data


def test_too_few_lengths_are_refused_only_where_the_order_is_enforced() -> None:
    done = asked("number-of-lengths")
    x, lengths = done.fixed["x"], done.fixed["lengths"]
    with pytest.raises(RuntimeError, match="to be equal to batch_size, but got 2"):
        pack_padded_sequence(x, lengths[:2], batch_first=True)
    silent = pack_padded_sequence(x, lengths[:2], batch_first=True, enforce_sorted=False)
    assert not {9.0, 10.0} & set(silent.data.flatten().tolist())
    assert f"{len(silent.data)} rows are packed instead of {int(lengths.sum())}" in done.outcome.told
    failed = [name for name, holds in done.outcome.cases.items() if not holds]
    assert failed == ["with enforce_sorted=False and one length too few"]


@each_seed
def test_origins_are_the_rows_that_torch_packed(seed: int) -> None:
    x, lengths, sequences = padded(random_batch(seed))
    claimed = torch.tensor([random.Random(seed + b).randint(1, x.size(1)) for b in range(len(lengths))])
    owners = origins(cells(lengths, x.size(1)), claimed)
    rows = pack_padded_sequence(x, claimed, batch_first=True, enforce_sorted=False).data.flatten().tolist()
    assert [owner is None for owner in owners] == [value == 0 for value in rows]
    assert all(owner is None or value in sequences[owner] for owner, value in zip(owners, rows, strict=True))
