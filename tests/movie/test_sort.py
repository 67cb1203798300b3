"""The rows stand in torch's sorted order; or torch refuses, in its own words."""

import pytest
import torch
from movie_cases import PACKED, REFUSED, Case, over
from movie_screen import grid_of, standing
from torch.nn.utils.rnn import pack_padded_sequence

each_packed = over(PACKED)
each_refused = over(REFUSED)


@each_packed
def test_the_rows_stand_in_torchs_sorted_order_with_their_letters_and_lengths(case: Case) -> None:
    cells, across = case.show.end_of("sort"), "x" if case.transposed else "y"
    placed = grid_of(standing(cells, "token", "pad"), transposed=case.transposed)
    assert [placed[row, 0]["seq"] for row in range(len(case.filmed))] == case.judge.order[:40]
    for (_, t), cell in placed.items():
        assert int(cell["id"].split(":")[2]) == t
        assert cell[across] == cells[f"label:{cell['seq']}"][across] == cells[f"length:{cell['seq']}"][across]
    notes = sorted((cell[across], cell["text"]) for cell in standing(cells, "length"))
    lengths = [int(text.removeprefix("len ")) for _, text in notes]
    assert lengths == sorted(lengths, reverse=True)


@each_packed
def test_rows_move_only_where_the_order_changes(case: Case) -> None:
    in_order = case.judge.order == list(range(case.judge.B))
    assert len(case.show.of("sort")) == (1 if in_order else 2)
    before, after = case.show.end_of("embed" if "embed" in case.movie.scenes else "pad"), case.show.end_of("sort")
    tokens = standing(after, "token")
    moved = any(cell[axis] != before[cell["id"]][axis] for cell in tokens for axis in "xy")
    assert moved == (case.filmed != sorted(case.filmed))


@each_packed
def test_what_torch_accepts_carries_no_error(case: Case) -> None:
    assert not any("error" in step for step in case.show.steps)


@each_refused
def test_a_refusal_ends_the_movie_with_torchs_own_message_and_marks_the_two_lengths(case: Case) -> None:
    with pytest.raises(RuntimeError) as caught:
        pack_padded_sequence(case.judge.x, torch.tensor(case.judge.lengths), True, enforce_sorted=True)
    *before, last = case.show.steps
    assert (last["stage"], last["error"], last["tone"]) == ("sort", str(caught.value), "wrong")
    assert not any("error" in step for step in before)
    first, second = sorted(cell["seq"] for cell in case.show.after[-1].values() if cell["tone"] == "wrong")
    assert second == first + 1
    assert case.judge.lengths[first] < case.judge.lengths[second]
