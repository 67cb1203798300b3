"""What torch says is what torch says: every line is run again, as anybody would."""

from typing import Any

import pytest
import torch
from facts_cases import each_seed, made, refused, studied
from torch.nn.utils.rnn import pack_padded_sequence

from packviz import Batch
from packviz.facts import behaviours, enforcing, fields, stack_errors, stacked_shape

NAMES = ["data", "batch_sizes", "sorted_indices", "unsorted_indices"]


def run_again(code: str, **names: Any) -> str:
    """Return the repr of what a line makes, or its error as the last line of a traceback shows it."""
    try:
        exec(code if " = " in code else f"value = {code}", names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return repr(names["value"])


def is_shortened(text: str, whole: str) -> bool:
    """Tell whether a text is the whole of another one, or of too many lines the first and the last."""
    half = 5
    lines = whole.splitlines()
    if len(lines) <= 12:
        return text == whole
    kept = text.splitlines()
    return kept[:half] == lines[:half] and kept[-half:] == lines[-half:] and kept[half].strip() == "...,"


@each_seed
def test_the_fields_are_those_of_torchs_packed_sequence(seed: int) -> None:
    seen = studied(seed)
    shown = fields(seen)
    assert [name for name, *_ in shown] == NAMES
    for name, *found in shown:
        value = getattr(seen.packed_sequence, name)
        if value is None:
            assert found == ["NoneType", None, None, None]
        else:
            assert found == ["Tensor", str(value.dtype), str(tuple(value.shape)), "cpu"]
    if seen.config is not None:  # packing the grid anew gives the same
        sorted_ = seen.config.enforce_sorted
        packed = pack_padded_sequence(seen.padded.values, seen.padded.lengths, seen.padded.batch_first, sorted_)
        shapes = [None if part is None else str(tuple(part.shape)) for part in packed]
        assert [shape for *_, shape, _ in shown] == shapes


@each_seed
def test_each_answer_is_what_the_line_gives_when_anybody_runs_it(seed: int) -> None:
    seen = studied(seed)
    before = seen.packed.data.clone()
    for code, outcome in behaviours(seen):
        assert is_shortened(outcome, run_again(code, packed=seen.packed_sequence, torch=torch)), code
    assert torch.equal(seen.packed.data, before)


@pytest.mark.parametrize("text", ["1 2 3\n4 5\n6 7 8 9", "1 2 3\n4 5\n6", "1\n2\n3", "on your mark\ngo"])
@pytest.mark.parametrize("enforce_sorted", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_each_call_is_told_with_what_torch_made_of_it(text: str, enforce_sorted: bool, batch_first: bool) -> None:
    seen = made(text, enforce_sorted=enforce_sorted, batch_first=batch_first)
    first = "batch_first=True, " if batch_first else ""
    told = enforcing(seen)
    call = f"pack_padded_sequence(x, lengths, {first}enforce_sorted={{}}).sorted_indices"
    assert [code for code, _ in told] == [call.format(True), call.format(False)]
    names = {"pack_padded_sequence": pack_padded_sequence, "x": seen.padded.values, "lengths": seen.padded.lengths}
    assert [outcome for _, outcome in told] == [run_again(code, **names) for code, _ in told]
    lengths = seen.padded.lengths.tolist()
    assert (told[0][1] == "None") == (lengths == sorted(lengths, reverse=True))


BATCHES = [studied(seed).batch for seed in range(20) if seed % 5 != 4]


@pytest.mark.parametrize("batch", [*BATCHES, refused().batch, Batch.parse("1 2 3"), Batch.example("hundred")])
def test_ragged_sequences_do_not_stack_and_those_of_one_length_do(batch: Batch) -> None:
    sequences, shown = list(batch.sequences), stack_errors(batch)
    equal = len(set(batch.lengths.tolist())) == 1
    assert len(shown) == (0 if equal else 2)
    for code, message in shown:
        assert message == run_again(code, torch=torch, sequences=sequences)
    assert stacked_shape(batch) == (tuple(torch.stack(sequences).shape) if equal else None)
