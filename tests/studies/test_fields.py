"""A PackedSequence's four fields, and what it answers, beside torch's own."""

from typing import Any

import pytest
import torch
from study_cases import SEEDS, made, refused, studied
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.trace import trace
from packviz.errors import PackvizError
from packviz.facts.torch_says import behaviours, fields
from packviz.inputs.batch import Batch

NAMES = ["data", "batch_sizes", "sorted_indices", "unsorted_indices"]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_fields_are_those_of_torchs_packed_sequence(seed: int) -> None:
    seen = studied(seed)
    shown = fields(seen)
    assert [field.name for field in shown] == NAMES
    for field in shown:
        value = getattr(seen.packed_sequence, field.name)
        if value is None:
            assert (field.type, field.text) == ("NoneType", "None")
            assert (field.dtype, field.shape, field.device) == (None, None, None)
        else:
            assert field.type == "Tensor"
            assert (field.dtype, field.device) == (str(value.dtype), "cpu")
            assert field.shape == tuple(value.shape)
            whole = repr(value)
            assert field.text == whole or (
                whole.startswith(field.text.partition("\n")[0]) and len(whole.splitlines()) > 12
            )


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed % 5 != 4])
def test_they_are_what_packing_the_grid_anew_gives(seed: int) -> None:
    seen = studied(seed)
    assert seen.config is not None
    packed = pack_padded_sequence(
        seen.padded.values, seen.padded.lengths, seen.padded.batch_first, seen.config.enforce_sorted
    )
    assert [field.shape for field in fields(seen)] == [None if part is None else tuple(part.shape) for part in packed]
    assert [field.text for field in fields(seen)][1:] == [repr(part) for part in packed[1:]]


def test_the_indices_are_none_with_enforce_sorted() -> None:
    shown = fields(made("1 2\n3", enforce_sorted=True))
    assert [field.text for field in shown[2:]] == ["None", "None"]


def test_a_long_value_is_cut_in_the_middle() -> None:
    seen = made(" ".join(map(str, range(40))))
    lines = fields(seen)[0].text.splitlines()
    whole = repr(seen.packed.data).splitlines()
    assert lines == [*whole[:5], "        ...,", *whole[-5:]]
    assert len(fields(trace(Batch.example("hundred")))[0].text.splitlines()) <= 12


def test_the_answers_of_a_packed_sequence() -> None:
    said = dict(behaviours(made("1 2 3\n4 5")))
    assert said["isinstance(packed, tuple)"] == "True"
    assert said["len(packed)"] == "4"
    assert said["packed[0] is packed.data"] == "True"
    assert said["packed.size()"] == "AttributeError: 'PackedSequence' object has no attribute 'size'"
    assert said["data, lengths = packed"].startswith("ValueError: too many values to unpack (expected 2")
    assert said["torch.sigmoid(packed)"].startswith("TypeError: sigmoid(): argument 'input'")
    assert said["packed._replace(data=torch.sigmoid(packed.data))"].startswith("PackedSequence(data=tensor([[0.7311],")


@pytest.mark.parametrize("seed", SEEDS)
def test_each_answer_is_what_the_line_gives_when_anybody_runs_it(seed: int) -> None:
    packed = studied(seed).packed_sequence
    for code, outcome in behaviours(studied(seed)):
        names: dict[str, Any] = {"packed": packed, "torch": torch}
        line = code if " = " in code else f"value = {code}"
        if "Error: " in outcome:
            with pytest.raises((AttributeError, TypeError, ValueError)) as raised:
                exec(line, names)
            assert outcome == f"{raised.type.__name__}: {raised.value}"
        else:
            exec(line, names)
            whole = repr(names["value"])
            assert outcome == whole or (len(whole.splitlines()) > 12 and "...," in outcome)


def test_a_line_does_not_change_the_trace() -> None:
    seen = made()
    before = seen.packed.data.clone()
    behaviours(seen)
    assert torch.equal(seen.packed.data, before)


def test_a_batch_that_torch_did_not_pack_has_no_fields() -> None:
    for study in (fields, behaviours):
        with pytest.raises(PackvizError) as raised:
            study(refused())
        assert raised.value.torch_says
