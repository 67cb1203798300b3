"""Why pack: what pads do to the sequence that has the most of them, beside torch's own runs."""

from itertools import product

import pytest
import torch
from facts_cases import made, refused
from torch import nn
from torch.nn.utils.rnn import pack_sequence

from packviz import trace_module
from packviz.show.hook import hook, pictures

TEXT = "I love cats\nshe sleeps\nwe sing old songs"


@pytest.mark.parametrize(("cell", "both", "layers"), [*product(("rnn", "gru", "lstm"), (False, True), (1, 2))])
def test_both_sides_are_what_torch_returns_of_several_layers_the_top_one(cell: str, both: bool, layers: int) -> None:
    t = made(TEXT, cell=cell, bidirectional=both, num_layers=layers, batch_first=False)
    found, size = hook(t), t.module.hidden_size
    assert found is not None
    assert (found.b, found.texts) == (1, ("she", "sleeps", "0", "0"))
    torch.testing.assert_close(found.padded, t.module(t.padded.values)[0][:, 1, :size].detach())
    alone, _ = t.module(pack_sequence([t.padded.values[:2, 1]]))
    torch.testing.assert_close(found.packed, alone.data[:, :size].detach())
    assert found.moved == pytest.approx(float((found.padded[-1] - found.packed[-1]).abs().max()))
    assert found.moved > 0


def test_without_a_pad_on_the_right_there_is_nothing_to_show_and_without_a_batch_no_text() -> None:
    assert hook(made("1 2\n3 4")) is None
    assert hook(made("1 2\n3", padding_side="left")) is None
    assert hook(refused()) is None
    found = hook(trace_module(nn.GRU(3, 4, batch_first=True), torch.randn(2, 5, 3), [5, 2]))
    assert found is not None
    assert found.texts == ("",) * 5


@pytest.mark.parametrize("features", [1, 3])
def test_the_names_that_a_caller_gave_the_tokens_are_shown(features: int) -> None:
    module, names = nn.GRU(features, 4, batch_first=True), [["a", "b", "c"], ["d"]]
    found = hook(trace_module(module, torch.zeros(2, 3, features), [3, 1], texts=names))
    assert found is not None
    assert found.texts[0] == "d"
    assert found.texts[1:] == (("0", "0") if features == 1 else ("", ""))


def test_the_pictures_say_what_was_computed_and_show_what_was_typed_as_text() -> None:
    found = hook(made('a b c\n<b> "&'))
    assert found is not None
    (moving, padded), (resting, packed) = pictures(found)
    assert "B's " in moving
    assert "1 pad" in moving
    assert f"{found.moved:.2f}" in moving
    assert " B " in resting
    assert "&lt;b&gt;" in padded
    assert "<b>" not in padded + packed
    assert padded.count("<polyline") == packed.count("<polyline") == 2 * 4  # before the end and after it, four units
    assert padded.count("<circle") == packed.count("<circle") == 4  # at the end
