"""The rows stand in torch's sorted order, or torch refuses; live rows, permutations, ties and states are torch's."""

import re
from itertools import groupby
from typing import Any

import pytest
import torch
from movie_cases import CASES, ENFORCED, PACKED, REFUSED, Case, over
from movie_screen import Look, Told, match, standing, within
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.text import sequence_label

each_packed, each_refused = over(PACKED), over(REFUSED)


@each_packed
def test_the_rows_stand_in_torchs_sorted_order(case: Case) -> None:
    cells, across = case.show.end_of("sort"), "x" if case.transposed else "y"
    placed = case.grid(cells)
    assert [placed[row, 0]["seq"] for row in range(len(case.filmed))] == case.filmed
    for (_, t), cell in placed.items():
        assert int(cell["id"].split(":")[2]) == t
        assert cell[across] == cells[f"label:{cell['seq']}"][across] == cells[f"length:{cell['seq']}"][across]
    notes = sorted((cell[across], cell["text"]) for cell in standing(cells, "length"))
    lengths = [int(text.removeprefix("len ")) for _, text in notes]
    assert lengths == sorted(lengths, reverse=True)


@each_packed
def test_rows_move_only_where_the_order_changes(case: Case) -> None:
    in_order = case.order == list(range(case.B))
    assert len(case.show.of("sort")) == (1 if in_order else 2)
    before, after = case.show.end_of("embed" if "embed" in case.movie.scenes else "pad"), case.show.end_of("sort")
    tokens = standing(after, "token")
    assert not any("error" in step for step in case.show.steps)
    moved = any(cell[axis] != before[cell["id"]][axis] for cell in tokens for axis in "xy")
    assert moved == (case.filmed != sorted(case.filmed))


@each_refused
def test_a_refusal_ends_the_movie_with_torchs_own_message(case: Case) -> None:
    with pytest.raises(RuntimeError) as caught:
        pack_padded_sequence(case.x, torch.tensor(case.lengths), True, enforce_sorted=True)
    *before, last = case.show.steps
    assert (last["stage"], last["error"], last["tone"]) == ("sort", str(caught.value), "wrong")
    assert not any("error" in step for step in before)
    first, second = sorted(cell["seq"] for cell in case.show.after[-1].values() if cell["tone"] == "wrong")
    assert second == first + 1
    assert case.lengths[first] < case.lengths[second]


each_case = over(CASES)
each_sorted = over([name for name in PACKED if name not in ENFORCED])


def live(case: Case) -> dict[int, list[int]]:
    """Return by time step who has a packed row, asked of torch without a word about the order."""
    numbers = torch.arange(case.B).unsqueeze(1).expand(-1, case.T)
    packed = pack_padded_sequence(numbers, torch.tensor(case.lengths), True, enforce_sorted=False)
    return {t: sorted(rows.tolist()) for t, rows in enumerate(torch.split(packed.data, packed.batch_sizes.tolist()))}


def outlined(case: Case, cells: dict[str, Look], tone: str) -> set[tuple[int, int]]:
    """Return (sequence, time step) of every cell within an outline of this tone."""
    placed = case.grid(cells)
    marks = [mark for mark in standing(cells, "mark") if mark["tone"] == tone]
    return {(placed[where]["seq"], where[1]) for mark in marks for where in within(mark, placed)}


def unsorted(case: Case) -> list[Told]:
    """Return the steps that show live rows that are not contiguous: at most one."""
    return [told for words in (" without sorting ", " But ") for told in case.deep.of("sort", words)]


def time_of(case: Case, step: dict[str, object]) -> Any:
    return case.deep.movie.steps[case.deep.steps.index(step)].time


@each_case
def test_the_staircase_shows_the_holes_of_an_unsorted_batch(case: Case) -> None:
    """A hole between live rows is preferred to one before them."""
    steps = unsorted(case)
    holes = {t: [b for b in range(max(rows)) if b not in rows] for t, rows in live(case).items() if t < 60}
    assert len(steps) == any(set(over) & set(case.filmed) for over in holes.values())
    for step, cells in steps:
        t = time_of(case, step)
        rows = live(case)[t]
        assert outlined(case, cells, "now") == {(b, t) for b in rows if b in case.filmed}
        assert outlined(case, cells, "wrong") == {(b, t) for b in holes[t] if b in case.filmed}
        left = case.config is not None and case.config.padding_side == "left"
        assert f" only {case.said(rows)} " in step["caption"]
        count = re.search(r" not the first (?:(\d+) )?(?:row|column)s?\.", step["caption"])
        assert not left or (count and int(count[1] or 1) == len(rows))
        taken = re.search(
            r"the first (?:(\d+) )?(?:row|column)s?, which without sorting would be (.*)\.$", step["caption"]
        )
        assert left or (taken and int(taken[1] or 1) == len(rows))
        assert left or (taken and taken[2] == case.said([*range(len(rows))]))
        assert cells[f"axis:{t}"]["tone"] == "now"
        if len(case.filmed) == case.B:  # else a hole may be out of the picture
            between = {t for t, over in holes.items() if over and min(live(case)[t]) < min(over)}
            assert t in between or not between


@each_packed
def test_after_the_sort_the_live_rows_are_the_first_batch_sizes(case: Case) -> None:
    ((step, cells),) = case.deep.of("sort", "o **batch_sizes[")
    t = time_of(case, step)
    assert all(time_of(case, before) == t for before, _ in unsorted(case))
    good = outlined(case, cells, "good")
    assert good == {(b, t) for b in live(case)[t] if b in case.filmed}
    assert f"**batch_sizes[{t}] = {case.batch_sizes[t]}**" in step["caption"]
    rows = {where[0] for where, cell in case.grid(cells).items() if (cell["seq"], t) in good}
    assert rows == set(range(len(good)))
    every = re.search(r"every (row|column) has a token", step["caption"]) is not None
    assert every == (case.batch_sizes[t] == case.B)
    size, line = case.batch_sizes[t], "column" if case.transposed else "row"
    assert every or f"only the first {line if size == 1 else f'{size} {line}s'} ha" in step["caption"]
    ((line, made),) = step["detail"]
    x_sorted = case.trace.padded.values
    if not case.enforce_sorted:
        x_sorted = x_sorted.index_select(0 if case.trace.padded.batch_first else 1, case.packed.sorted_indices)
    taken = eval(line, {"x_sorted": x_sorted, "x": x_sorted})
    assert str(tuple(taken.shape)) == made
    start = sum(case.batch_sizes[:t])
    assert torch.equal(taken.nan_to_num(), case.packed.data[start : start + len(taken)].nan_to_num())


@each_sorted
def test_threads_lead_from_the_letters_in_the_original_order_to_the_rows(case: Case) -> None:
    along, seen = "x" if case.transposed else "y", 0
    for step, cells in case.deep.of("sort"):
        for cell in standing(cells, "thread"):
            side, b = cell["id"].split(":")[1:]
            wide = cells[f"label:{b}"]["w"] if case.transposed else 1
            start, span = cell[along] - wide / 2, cell["w" if case.transposed else "h"]
            letter, row = cells[f"{side}:{b}"][along], cells[f"label:{b}"][along]
            ends = (letter, row) if side == "from" else (row, letter)
            assert (start, start + span) == pytest.approx(ends, abs=0.01), step["caption"]
            assert cell["seq"] == int(b)
            seen += 1
    assert seen
    ((_, cells),) = case.deep.of("sort", "You give **h_0**")
    for side in ("from", "to"):
        letters = sorted(standing(cells, side), key=lambda cell: cell[along])
        assert [(cell["seq"], cell["text"]) for cell in letters] == [(b, sequence_label(b)) for b in case.rows]


@each_sorted
def test_the_permutations_are_torchs_and_each_the_inverse_of_the_other(case: Case) -> None:
    ((step, cells),) = case.deep.of("sort", "**unsorted_indices[")
    there, back = case.packed.sorted_indices, case.packed.unsorted_indices
    assert torch.equal(back[there], torch.arange(case.B))
    for name, truth in (("sorted", there.tolist()), ("unsorted", back.tolist())):
        line = sorted(standing(cells, name), key=lambda cell: cell["x" if case.transposed else "y"])
        assert [int(cell["text"]) for cell in line] == ([] if case.small else truth)
        for k, cell in enumerate(line):
            assert cell["seq"] == (truth[k] if name == "sorted" else k)
            b, t = case.movie.tokens[cell["token"]]
            assert b == cell["seq"]
            assert not case.mask[b][:t].any()
    claims = [match(rf"\*\*{name}_indices\[(\d+)\] = (\d+)\*\*", step["caption"]) for name in ("sorted", "unsorted")]
    (k, b), (again, row) = (map(int, claim.groups()) for claim in claims)
    assert (there[k], back[again], again, row) == (b, row, b, k)
    axis = "column" if case.transposed else "row"
    moved = there.tolist() != sorted(there.tolist())
    now = "now" if moved else "still"
    assert step["caption"].startswith(f"{case.said([b])} was {axis} {b} and is {now} {axis} {k}. ")
    assert (k != b) == moved


@each_sorted
def test_equal_lengths_keep_their_order_only_if_torch_kept_it(case: Case) -> None:
    order, lengths = case.order, case.lengths
    groups = [list(group) for _, group in groupby(order, key=lambda b: lengths[b])]
    groups = [group for group in groups if len(group) > 1]
    steps = case.deep.of("sort", "have the same length")
    assert len(steps) == bool(groups)
    for step, cells in steps:
        starts = {f"{case.said(group)} have the same length, {lengths[group[0]]}": group for group in groups}
        (told,) = [group for start, group in starts.items() if step["caption"].startswith(start)]
        assert ("**not**" in step["caption"]) == (told != sorted(told))
        assert ("**not**" in step["caption"]) == any(group != sorted(group) for group in groups)
        whole = {(b, t) for b in told if b in case.filmed for t in range(min(case.T, 60))}
        assert outlined(case, cells, "now") == whole
        for number in re.findall(r"with (\d+) or more equal lengths", step["caption"]):
            assert kept(int(number) - 1)
            assert not kept(int(number))


def kept(n: int) -> bool:
    """Return whether torch leaves n equal lengths as they came."""
    packed = pack_padded_sequence(torch.zeros(n, 1, 1), torch.ones(n, dtype=torch.int64), True, enforce_sorted=False)
    return packed.sorted_indices is not None and packed.sorted_indices.tolist() == list(range(n))


@each_sorted
def test_torch_takes_the_states_as_the_lesson_says(case: Case) -> None:
    ((step, _),) = case.deep.of("sort", "You give **h_0**")
    space = {"h_0": case.trace.h_0, **case.packed._asdict()}
    (into, into_shape), (out, out_shape) = step["detail"]
    given = eval(into, space)
    bare = PackedSequence(case.packed.data, case.packed.batch_sizes)
    lstm = case.trace.c_0 is not None
    state = (given, case.trace.c_0[:, space["sorted_indices"]]) if lstm else given
    _, after = case.trace.module(bare, state)
    back = eval(out, space | {"h_n": after[0] if lstm else after})
    assert torch.allclose(back, case.trace.h_n, atol=1e-6, equal_nan=True)
    assert [into_shape, out_shape] == [str(tuple(given.shape)), str(tuple(case.trace.h_n.shape))]
    assert ("c_0" in step["caption"]) == lstm


@over(ENFORCED)
def test_nothing_is_permuted_where_torch_only_checks(case: Case) -> None:
    step, cells = case.deep.of("sort")[-1]
    assert (case.packed.sorted_indices, case.packed.unsorted_indices) == (None, None)
    assert "are None" in step["caption"]
    assert not standing(cells, "sorted", "unsorted", "thread", "from", "to")
