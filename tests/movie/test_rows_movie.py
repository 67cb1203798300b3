"""The movie of a batch in rows: order of the strip and the row, cells of each token, and the numbers of captions."""

import re
from itertools import accumulate
from typing import Any, get_args

import pytest
from torch.nn.utils.rnn import pack_sequence

import packviz as pv
from packviz.errors import PackvizError
from packviz.inputs.row_config import Strategy

TEXT = "5 1 2 3 4\n2 8\n3 1 7\n9"
STRATEGIES = get_args(Strategy)


def run_of(strategy: Strategy = "bfd") -> Any:
    return pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=4, strategy=strategy))


def tokens(movie: Any, step: int, panel: str) -> list[Any]:
    found = [mark for mark in movie.frame(step)["marks"].values() if mark["role"] == "token" and mark["p"] == panel]
    return sorted(found, key=lambda mark: (mark["y"], mark["x"]))


def test_the_strip_has_torchs_packed_order() -> None:
    run = run_of()
    data = pack_sequence(list(run.batch.sequences), enforce_sorted=False).data
    shown = [int(mark["text"]) for mark in tokens(pv.movie(run, ("two",)), 1, "strip")]
    assert shown == data.int().tolist()


def test_the_row_has_one_sequence_after_another() -> None:
    run = run_of()
    movie = pv.movie(run, ("two",))
    shown = [int(mark["text"]) for mark in tokens(movie, len(movie.steps), "row")]
    assert shown == [int(value) for sequence in run.batch.sequences for value in sequence]


def test_each_step_states_the_next_entry_of_cu_seqlens() -> None:
    run = run_of()
    stated = [re.search(r"is (\d+)\.$", step.caption) for step in pv.movie(run, ("two",)).steps[1:-1]]
    assert [int(found[1]) for found in stated if found] == [*accumulate(map(len, run.batch.sequences))]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_filled_rows_hold_what_fill_rows_says(strategy: Strategy) -> None:
    run = run_of(strategy)
    movie = pv.movie(run, ("fill",))
    shown = [int(mark["text"]) for mark in tokens(movie, len(movie.steps), "rows")]
    pieces = [piece for row in run.rows.rows for piece in row]
    assert shown == [int(value) for b, start, stop in pieces for value in run.batch.sequences[b][start:stop]]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_last_caption_of_fill_counts_rows_and_cells(strategy: Strategy) -> None:
    rows = run_of(strategy).rows
    numbers = list(map(int, re.findall(r"\d+", pv.movie(run_of(strategy), ("fill",)).steps[-1].caption)))
    dropped = sum(stop - start for _, start, stop in rows.dropped)
    ids = [b for row in rows.rows for b, _, _ in row] + [b for b, _, _ in rows.dropped]
    cut = sum(ids.count(b) > 1 for b in set(ids))
    assert numbers == [len(rows.rows), 4, rows.tokens, rows.padding, 4 * 5 - 11, dropped, cut]


def test_a_window_is_stated_in_the_notes() -> None:
    assert "showing 6 of 11 tokens" in pv.movie(run_of(), sequences=2, steps=4).notes


def test_rows_have_no_direction() -> None:
    with pytest.raises(PackvizError, match="direction"):
        pv.movie(run_of(), direction=1)


@pytest.mark.parametrize("head", [-1, 2])
def test_a_head_that_the_run_does_not_have_is_refused(head: int) -> None:
    with pytest.raises(PackvizError, match="head"):
        pv.movie(run_of(), head=head)


def test_a_recurrent_module_has_no_heads() -> None:
    with pytest.raises(PackvizError, match="head"):
        pv.movie(pv.trace(pv.Batch.parse(TEXT)), head=1)


def test_free_cells_belong_to_no_sequence() -> None:
    movie = pv.movie(run_of(), ("fill",))
    free = [mark for mark in movie.frame(len(movie.steps))["marks"].values() if mark["role"] == "pad"]
    assert [mark["seq"] for mark in free] == [None, None]
