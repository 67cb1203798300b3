"""Pack it yourself: torch says which cell each row is and how many rows each step has; each mistake has its reason."""

from functools import cache

import pytest
import torch
from prediction_cases import Asked, asked, label
from torch import nn

from packviz import Batch, Config, trace, trace_module
from packviz.compute.record import Refusal
from packviz.teach.exercise import MAX_SEQUENCES, MAX_TOKENS, Exercise, exercise
from packviz.text import sequence_label


@cache
def small() -> list[tuple[Exercise, Asked]]:
    """Return the exercises on the random batches that are small enough, and what torch can be asked about these."""
    found = []
    for case in map(asked, range(60)):
        if not isinstance(case.seen, Refusal):
            made = exercise(case.seen)
            assert (made is not None) == (sum(case.lengths) <= MAX_TOKENS and len(case.lengths) <= MAX_SEQUENCES)
            found += [] if made is None else [(made, case)]
    assert len(found) >= 5
    return found


def test_the_rows_and_the_sizes_are_those_of_torch() -> None:
    for made, case in small():
        rows, sizes = case.cells(), case.packed().batch_sizes.tolist()
        assert [(made.cells[row.cell].b, made.cells[row.cell].t) for row in made.rows] == rows
        assert [each.size for each in made.sizes] == sizes
        assert f"{len(rows)} row" in made.done
        assert str(sizes) in made.done


def test_every_cell_that_torch_leaves_out_says_why_and_no_other_one() -> None:
    for made, case in small():
        assert {(cell.b, cell.t) for cell in made.cells if not cell.unpacked} == set(case.cells())
        for cell in made.cells:
            if cell.unpacked:
                assert ("Padding is never packed" in cell.unpacked) == cell.is_pad
                assert str(case.lengths[cell.b]) in cell.unpacked


def test_every_mistake_about_a_row_names_that_row_and_its_reason() -> None:
    for made, case in small():
        for row in made.rows:
            cell = made.cells[row.cell]
            here = f"the next row is {sequence_label(cell.b)} at t = {cell.t}, because "
            assert row.later.startswith(f"{here}a PackedSequence goes column by column")
            assert row.other.startswith(f"{here}the rows of a time step keep the sorted order: ")
            live = [letter for letter in made.letters if case.lengths[label(letter)] > cell.t]
            told = row.other.partition("order: ")[2].rstrip(".").replace(" and ", ", ").split(", ")
            assert told[: len(live)] == live or len(live) > 8


def test_every_answer_about_a_size_is_told_what_it_counts() -> None:
    spoken = dict.fromkeys(("length of", "too many", "too few"), 0)
    for made, case in small():
        for t, size in enumerate(made.sizes):
            assert len(size.said) == len(case.lengths)
            for given, said in enumerate(size.said, 1):
                if given == size.size:
                    assert said.startswith(f"batch_sizes[{t}] = {given}: ")
                    continue
                assert said.startswith(str(given))
                (kind,) = [kind for kind in spoken if kind in said]
                spoken[kind] += 1
                if kind == "length of":
                    letter = said.split("length of ")[1].split(".")[0]
                    assert case.lengths[label(letter)] == given
                else:
                    assert (kind == "too many") == (given > size.size)
    assert all(spoken.values()), spoken


def test_pads_on_the_left_are_packed() -> None:
    made = exercise(trace(Batch.parse("1 2 3\n4"), Config(padding_side="left")))
    assert made is not None
    assert made.rows[1].found.startswith("data[1] is a pad, B at t = 0.")
    (four,) = [cell for cell in made.cells if cell.text == "4"]
    assert "the length of B is 1: torch packs the first 1 cell" in four.unpacked


@pytest.mark.parametrize("text", ["\n".join("1" * (MAX_SEQUENCES + 1)), " ".join("1" * (MAX_TOKENS + 1))])
def test_a_batch_that_is_too_big_to_pack_by_hand_has_no_exercise(text: str) -> None:
    assert exercise(trace(Batch.parse(text))) is None


def test_the_names_that_a_caller_gave_the_tokens_stand_in_the_cells() -> None:
    module, names = nn.GRU(1, 4, batch_first=True), [["a", "b"], ["c"]]
    made = exercise(trace_module(module, torch.zeros(2, 2, 1), [2, 1], texts=names))
    assert made is not None
    assert [cell.text for cell in made.cells] == ["a", "b", "c", ""]
