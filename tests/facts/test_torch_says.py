"""What torch says: every line is run again; the address of every token, and the order of equal lengths."""

from typing import Any

import pytest
import torch
from facts_cases import made, refused, studied
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence

from packviz import Batch, Trace
from packviz.facts import behaviours, enforcing, fields, row_of, stacking, token_of
from packviz.facts.torch_says import order_of_equals, ties

NAMES = ["data", "batch_sizes", "sorted_indices", "unsorted_indices"]


def run_again(code: str, **names: Any) -> str:
    """Return the repr of what a line makes, or its error as the last line of a traceback shows it."""
    try:
        exec(code if " = " in code else f"value = {code}", names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return repr(names["value"])


def is_shortened(text: str, whole: str) -> bool:
    """Return whether a text is the whole of another one, or of more than twelve lines the first five and the last."""
    lines, kept = whole.splitlines(), text.splitlines()
    if len(lines) > 12:
        lines[5:-5] = ["...,"]
        kept[5] = kept[5].strip()
    return kept == lines


def test_the_fields_are_those_of_torchs_packed_sequence(seen: Trace) -> None:
    shown = fields(seen)
    assert [name for name, *_ in shown] == NAMES
    for name, *found in shown:
        value = getattr(seen.packed_sequence, str(name))
        if value is None:
            assert found == ["NoneType", None, None, None]
        else:
            assert found == ["Tensor", str(value.dtype), str(tuple(value.shape)), "cpu"]
    if seen.config is not None:  # packing the grid anew gives the same
        sorted_ = seen.config.enforce_sorted
        packed = pack_padded_sequence(seen.padded.values, seen.padded.lengths, seen.padded.batch_first, sorted_)
        shapes = [None if part is None else str(tuple(part.shape)) for part in packed]
        assert [shape for *_, shape, _ in shown] == shapes


def test_each_answer_is_what_the_line_gives_when_anybody_runs_it(seen: Trace) -> None:
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
    sequences, shown = list(batch.sequences), stacking(batch)
    equal = len(set(batch.lengths.tolist())) == 1
    assert [outcome for _, outcome in shown] == [run_again(code, torch=torch, sequences=sequences) for code, _ in shown]
    assert ["Error: " in outcome for _, outcome in shown] == ([False] if equal else [True, True])
    assert not equal or shown[0][1] == repr(torch.stack(sequences).shape)


def test_every_row_is_found_from_its_token_and_back(seen: Trace) -> None:
    packed, found = seen.packed_sequence, set()
    for b, length in enumerate(seen.padded.lengths.tolist()):
        rank = b if packed.unsorted_indices is None else int(packed.unsorted_indices[b])
        for t in range(length):
            address = row_of(seen, b, t)
            assert (address.b, address.t) == (b, t)
            assert torch.equal(packed.data[address.n], seen.padded.grid[b, t])
            assert address == token_of(seen, address.n)
            assert address.n == address.offset + address.position
            assert (address.offset, address.position) == (int(packed.batch_sizes[:t].sum()), rank)
            found.add(address.n)
    assert found == set(range(len(packed.data)))


@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 18, 20, 64, 100, 300])
def test_the_order_of_equals_is_torchs(n: int) -> None:
    packed = pack_sequence([torch.zeros(3, 2)] * n, enforce_sorted=False)
    assert packed.sorted_indices is not None
    assert list(order_of_equals(n)) == packed.sorted_indices.tolist()
    promised = made("\n".join(["1 2"] * n), enforce_sorted=True)  # sorted already: equals stay as they came
    assert [tie.sequences for tie in ties(promised)] == [tuple(range(n))] * (n > 1)


def test_ties_are_the_runs_of_equal_lengths_in_torchs_order(seen: Trace) -> None:
    order, lengths = seen.sorted.order.tolist(), seen.padded.lengths.tolist()
    found = ties(seen)
    assert [tie.length for tie in found] == sorted({n for n in lengths if lengths.count(n) > 1}, reverse=True)
    for tie in found:
        assert list(tie.sequences) == [b for b in order if lengths[b] == tie.length]
        assert tie.as_they_came == all(a < b for a, b in zip(tie.sequences, tie.sequences[1:], strict=False))
