"""The entries on shapes and batch_first: every verdict as PyTorch gives it, and every number that is told."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from entry_cases import asking, unlisted, verdicts
from torch import Tensor, nn
from torch.nn.utils import rnn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from packviz.config import Config
from packviz.questions.answer import answer
from packviz.questions.entries.shapes import ENTRIES

BY_KEY = {entry.key: entry for entry in ENTRIES}
EXPECTED = {
    # expected to be silent where B == T; torch 2.13 is so for B < T as well, where enforce_sorted=False
    "batch-first-forgotten": "depends",
    "batch-first-of-unpacking": "false",
    "batch-first-of-h-n": "false",
    "no-feature-axis": "false",
    "row-of-a-box": "false",
    "one-axis": "false",
    "ragged-list": "false",
    "ids-into-a-cell": "false",
}
CELLS = (nn.RNN, nn.GRU, nn.LSTM)
LENGTHS = ((3, 3, 1), (2, 1), (4, 2), (5, 4, 1), (3, 2, 2, 1), (2, 2), (1, 1, 1), (6, 3, 3, 2))
each_shape = pytest.mark.parametrize("lengths", LENGTHS)
asked = asking(BY_KEY)


def typed(lengths: tuple[int, ...]) -> str:
    """Return a batch of different numbers from 1 on."""
    numbers = iter(range(1, 100))
    return "\n".join(" ".join(str(next(numbers)) for _ in range(length)) for length in lengths)


def padded(lengths: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return the same batch as x (B, T, 1), and its lengths, made without packviz."""
    rows = torch.arange(1.0, 1 + sum(lengths)).split(list(lengths))
    return pad_sequence(list(rows), batch_first=True)[:, :, None], torch.tensor(lengths)


def raised(call: Any) -> str:
    with pytest.raises((IndexError, RuntimeError, ValueError)) as refused:
        call()
    return f"{refused.type.__name__}: {refused.value}"


def test_the_rows_31_to_38_have_one_entry_each() -> None:
    assert [entry.rows for entry in ENTRIES] == [(row,) for row in range(31, 39)]
    assert set(BY_KEY) == set(EXPECTED)


test_the_verdict_is_that_of_torch = verdicts(BY_KEY, EXPECTED)


@pytest.mark.parametrize("key", EXPECTED)
def test_an_error_of_the_broken_program_is_among_the_messages(key: str) -> None:
    assert unlisted(asked(key)) == []


def test_forgetting_batch_first_is_noticed_only_by_the_number_of_lengths() -> None:
    x, lengths = padded((3, 3, 1))
    for B, T in ((3, 3), (2, 3), (3, 2)):
        for held in (True, False):
            name = f"with B = {B}, T = {T}, enforce_sorted={held}"
            try:
                pack_padded_sequence(x[:B, :T], lengths[:B].clamp(max=T), enforce_sorted=held)
                silent = True
            except (IndexError, RuntimeError):
                silent = False
            assert asked("batch-first-forgotten").outcome.cases[name] is not silent
            assert silent == (T == B or (B < T and not held))


@each_shape
def test_without_batch_first_data_is_told_as_torch_packs_it(lengths: tuple[int, ...]) -> None:
    x, measured = padded(lengths)
    done = asked("batch-first-forgotten", typed(lengths))
    right = pack_padded_sequence(x, measured, batch_first=True).data.flatten()
    assert torch.equal(done.fixed.value, right)
    if len(x) != x.size(1):
        assert raised(lambda: pack_padded_sequence(x, measured)) in done.outcome.told
        return
    wrong = pack_padded_sequence(x, measured).data.flatten()
    assert f"{wrong.tolist()} instead of {right.tolist()}" in done.outcome.told
    assert f"pads in it: {int((wrong == 0).sum())}" in done.outcome.told
    marked = {n for _, n in done.outcome.chart.of[0][1].wrong}
    assert marked == set((wrong != right).nonzero().flatten().tolist())


def test_a_torch_that_guessed_the_axes_would_be_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(
        x: Tensor, lengths: Tensor, batch_first: bool = False, enforce_sorted: bool = True
    ) -> rnn.PackedSequence:
        if not batch_first:
            raise RuntimeError("batch_first")
        return pack_padded_sequence(x, lengths, batch_first, enforce_sorted)

    monkeypatch.setattr(rnn, "pack_padded_sequence", strict)
    assert asked("batch-first-forgotten").outcome.verdict == "true"


@each_shape
def test_unpacking_has_a_flag_of_its_own(lengths: tuple[int, ...]) -> None:
    x, measured = padded(lengths)
    packed = pack_padded_sequence(x, measured, batch_first=True)
    shape = pad_packed_sequence(packed)[0].shape[:2]
    done = asked("batch-first-of-unpacking", typed(lengths))
    assert done.broken.value == (*shape, 2)
    assert done.fixed.value == (*x.shape[:2], 2)
    square = len(lengths) == max(lengths)
    assert done.outcome.cases["for the shape"] is square
    assert done.outcome.verdict == ("depends" if square else "false")
    turned = done.outcome.chart.of[0][1]
    shown = [[float(text) for text in row] for row in turned.texts]
    assert shown == pad_packed_sequence(packed)[0][:, :, 0].tolist()


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_h_n_is_never_batch_first(layers: int, bidirectional: bool) -> None:
    done = asked("batch-first-of-h-n", num_layers=layers, bidirectional=bidirectional)
    slots = layers * (1 + bidirectional)
    assert done.fixed["h_n"].shape == (slots, 3, 2)
    assert f"`h_n` is (L·D, B, H) = ({slots}, 3, 2)" in done.outcome.told
    assert done.outcome.verdict == "false"  # with three slots, too, where the shape alone would do
    for b, length in enumerate(done.fixed["lengths"].tolist()):
        own = done.fixed["lstm"](done.fixed["x"][b : b + 1, :length])[1][0].flatten()
        assert torch.allclose(done.fixed.value[b], own, atol=1e-6)
        assert bool(torch.allclose(done.broken.value[b], own, atol=1e-6)) is (slots == 1)


def test_one_sequence_and_one_layer_cannot_be_told_apart() -> None:
    assert asked("batch-first-of-h-n", "1 2 3", num_layers=1).outcome.verdict == "true"


def test_the_shapes_of_h_n_are_those_of_torch() -> None:
    done = asked("batch-first-of-h-n")
    output, (h_n, _) = done.fixed["lstm"](done.fixed["x"])
    assert f"`output` {tuple(output.shape)}, batch first, and an `h_n` {tuple(h_n.shape)}" in done.outcome.told


def test_packed_data_without_features_is_refused_by_every_cell() -> None:
    x, lengths = padded((2, 1))
    packed = pack_padded_sequence(x[:, :, 0], lengths, batch_first=True)
    said = [raised(lambda cell=cell: cell(1, 2)(packed)) for cell in CELLS]
    done = asked("no-feature-axis")
    assert said[0] == said[1]
    assert {said[1], said[2]} == set(done.entry.messages)
    assert said[1] in done.outcome.told
    assert said[2] in done.outcome.told


def test_the_lstm_takes_one_number_for_one_feature() -> None:
    nn.LSTM(1, 2)(pack_padded_sequence(torch.tensor([[5.0]]), torch.tensor([1]), batch_first=True))
    outcome = asked("no-feature-axis", "5").outcome
    assert outcome.cases == {"for nn.RNN": False, "for nn.GRU": False, "for nn.LSTM": True}


def test_a_sequence_of_length_1_fits_its_row_by_accident() -> None:
    outcome = asked("row-of-a-box", "1 2 3\n4").outcome
    assert outcome.cases == {"for A of length 3": False, "for B of length 1": True}
    box = torch.zeros(2, 3, 1)
    box[1, :1] = torch.tensor([4.0])
    assert (
        raised(lambda: box[0].__setitem__(slice(3), torch.tensor([1.0, 2.0, 3.0]))) in BY_KEY["row-of-a-box"].messages
    )
    assert asked("row-of-a-box", "1\n4").outcome.verdict == "true"


def test_one_axis_is_refused_and_a_batch_of_one_is_not() -> None:
    row, done = torch.tensor([1.0, 2.0, 3.0]), asked("one-axis")
    for first in (True, False):
        assert raised(lambda first=first: pack_padded_sequence(row, [3], batch_first=first)) in done.entry.messages
    assert torch.equal(done.fixed.value, pack_padded_sequence(row[None, :, None], [3], batch_first=True).data)
    nn.GRU(1, 4)(done.fixed["alone"])  # it has a feature axis, which a cell needs
    assert f"`h_n` of the shape {tuple(nn.GRU(1, 4)(row[:, None])[1].shape)}" in done.outcome.told


def test_sequences_of_one_length_do_stack() -> None:
    assert asked("ragged-list", "1 2 3\n4 5 6").outcome.verdict == "true"
    rows = [torch.ones(7), torch.ones(6), torch.ones(2)]
    done = asked("ragged-list")
    assert raised(lambda: torch.stack(rows)) in done.entry.messages
    assert str(tuple(pad_sequence(rows, batch_first=True).shape)) in done.outcome.told


def test_whole_numbers_are_refused_in_two_ways() -> None:
    ids = torch.tensor([[[1], [2]], [[3], [0]]])
    packed = pack_padded_sequence(ids, torch.tensor([2, 1]), batch_first=True)
    said = {raised(lambda cell=cell: cell(1, 4)(packed)) for cell in CELLS}
    done = asked("ids-into-a-cell")
    assert said == set(done.entry.messages)
    assert raised(lambda: nn.LSTM(1, 4)(packed)) in done.outcome.told
    nn.LSTM(1, 4)(packed._replace(data=packed.data.float()))


def test_numbers_with_an_embedding_are_ids_as_well() -> None:
    entry = replace(BY_KEY["ids-into-a-cell"], batch="1 2 3\n4 5", config=Config(embedding_dim=3))
    done = answer(entry)
    assert done.broken.error in entry.messages
    assert done.fixed.value == (5, 4)
