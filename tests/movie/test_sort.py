"""The rows stand in torch's sorted order; or torch refuses, in its own words."""

import pytest
import torch
from movie_cases import PACKED, REFUSED, Case, over
from movie_screen import grid_of
from torch.nn.utils.rnn import pack_padded_sequence

each_packed = over(PACKED)
each_refused = over(REFUSED)


@each_packed
def test_the_rows_stand_in_torchs_sorted_order(case: Case) -> None:
    cells = [
        cell for name, cell in case.show.end_of("sort").items() if cell["shown"] and name.startswith(("token:", "pad:"))
    ]
    placed = grid_of(cells, transposed=case.transposed)
    assert [placed[row, 0]["seq"] for row in range(len(case.filmed))] == case.judge.order[:128]
    for (_, t), cell in placed.items():
        assert int(cell["id"].split(":")[2]) == t


@each_packed
def test_letters_and_lengths_go_with_their_rows(case: Case) -> int:
    spoke = 0
    cells = case.show.end_of("sort")
    across = "x" if case.transposed else "y"
    for name, cell in cells.items():
        if name.startswith(("token:", "pad:")):
            spoke += 1
            assert cell[across] == cells[f"label:{cell['seq']}"][across] == cells[f"length:{cell['seq']}"][across]
    return spoke


@each_packed
def test_the_lengths_never_increase_down_the_rows(case: Case) -> None:
    cells = case.show.end_of("sort")
    across = "x" if case.transposed else "y"
    notes = sorted((cell[across], cell["text"]) for name, cell in cells.items() if name.startswith("length:"))
    lengths = [int(text.removeprefix("len ")) for _, text in notes]
    assert lengths == sorted(lengths, reverse=True)


@each_packed
def test_rows_move_only_where_the_order_changes(case: Case) -> None:
    steps = case.show.of("sort")
    in_order = case.judge.order == list(range(case.judge.B))
    assert len(steps) == (1 if in_order else 2)
    moves = [change for step, _ in steps for beat in step["beats"] for change in beat if "x" in change]
    assert bool(moves) != in_order or case.filmed == sorted(case.filmed)


@each_refused
def test_a_refusal_ends_the_movie_with_torchs_own_message(case: Case) -> None:
    with pytest.raises(RuntimeError) as caught:
        pack_padded_sequence(case.judge.x, torch.tensor(case.judge.lengths), True, enforce_sorted=True)
    last = case.movie.steps[-1]
    assert last.stage == "sort"
    assert last.error == str(caught.value)
    assert last.tone == "wrong"
    assert not any(step.error for step in case.movie.steps[:-1])


@each_refused
def test_a_refusal_marks_the_two_lengths_that_are_in_the_wrong_order(case: Case) -> None:
    wrong = [cell["seq"] for cell in case.show.after[-1].values() if cell["tone"] == "wrong"]
    first, second = sorted(wrong)
    assert second == first + 1
    assert case.judge.lengths[first] < case.judge.lengths[second]


@each_packed
def test_what_torch_accepts_carries_no_error(case: Case) -> None:
    assert not any(step.error for step in case.movie.steps)
