"""Filling rows: every strategy keeps its promise on random lengths, and finds what its definition says."""

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from seeds import seeds

from packviz import PackvizError, Rows, fill_rows
from packviz.inputs.row_config import STRATEGIES

Pieces = list[tuple[int, int, int]]
each_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def random_lengths(seed: int) -> tuple[list[int], int]:
    draw = random.Random(seed)
    lengths = [draw.randint(1, draw.choice((2, 9, 30))) for _ in range(draw.choice((1, 2, 5, 20, 60)))]
    return lengths, draw.choice((1, 2, 5, 10, 30, 100))


@pytest.mark.parametrize(("lengths", "C", "strategy", "rows", "dropped"), [
    ([5, 2, 3, 1], 4, "bfd", (((0, 0, 4),), ((2, 0, 3), (3, 0, 1)), ((1, 0, 2),)), ((0, 4, 5),)),
    ([5, 2, 3, 1], 4, "bfd_split", (((0, 0, 4),), ((2, 0, 3), (0, 4, 5)), ((1, 0, 2), (3, 0, 1))), ()),
    ([5, 2, 3, 1], 4, "wrapped", (((0, 0, 4),), ((0, 4, 5), (1, 0, 2), (2, 0, 1)), ((2, 1, 3), (3, 0, 1))), ()),
    ([5, 2, 3, 1], 4, "next_fit", (((0, 0, 4),), ((1, 0, 2),), ((2, 0, 3), (3, 0, 1))), ((0, 4, 5),)),
    ([5, 2, 3, 1], 4, "first_fit", (((0, 0, 4),), ((1, 0, 2), (3, 0, 1)), ((2, 0, 3),)), ((0, 4, 5),)),
    ([5, 2, 3, 1], 4, "ffd", (((0, 0, 4),), ((2, 0, 3), (3, 0, 1)), ((1, 0, 2),)), ((0, 4, 5),)),
    # equal room: the row that has had it longest, here the second one
    ([15, 11, 7, 3, 2], 20, "bfd", (((0, 0, 15), (3, 0, 3)), ((1, 0, 11), (2, 0, 7), (4, 0, 2))), ()),
    ([3, 2, 1], None, "bfd", (((0, 0, 3), (1, 0, 2), (2, 0, 1)),), ()),
])  # fmt: skip
def test_small_cases_are_filled_as_by_hand(lengths: Any, C: Any, strategy: Any, rows: Any, dropped: Any) -> None:
    found = fill_rows(lengths, C, strategy)
    assert (found.rows, found.dropped) == (rows, dropped)
    assert fill_rows(torch.tensor(lengths), C, strategy) == found


def test_the_cells_that_stay_free_are_counted() -> None:
    assert fill_rows([5, 2, 3, 1], 4).padding == 2
    assert fill_rows([5, 2, 3, 1]).padding == 0


@pytest.mark.parametrize(
    ("strategy", "dropped", "cut"), [("bfd", 1, (0,)), ("bfd_split", 0, (0,)), ("wrapped", 0, (0, 2))]
)
def test_what_is_dropped_and_cut_is_counted(strategy: Any, dropped: int, cut: tuple[int, ...]) -> None:
    found = fill_rows([5, 2, 3, 1], 4, strategy)
    assert (found.tokens_dropped, found.cut) == (dropped, cut)


@each_strategy
@pytest.mark.parametrize("seed", seeds(100))
def test_each_token_stands_in_one_row_or_is_dropped(strategy: Any, seed: int) -> None:
    lengths, C = random_lengths(seed)
    found = fill_rows(lengths, C, strategy)
    pieces = [*(piece for row in found.rows for piece in row), *found.dropped]
    tokens = [(b, t) for b, start, stop in pieces for t in range(start, stop)]
    assert sorted(tokens) == [(b, t) for b, length in enumerate(lengths) for t in range(length)]
    assert all(1 <= sum(row) <= C for row in found.lengths)
    assert found.padding + found.tokens == C * len(found.rows)
    if strategy in ("wrapped", "bfd_split"):
        assert found.dropped == ()
    else:
        assert found.dropped == tuple((b, C, length) for b, length in enumerate(lengths) if length > C)


# Which of the rows that have room gets a piece: the smallest key of (row, room, the step in which it got this room).
CHOICES: dict[str, Callable[[int, int, int], Any]] = {
    "first_fit": lambda row, _room, _since: row,
    "ffd": lambda row, _room, _since: row,
    "bfd": lambda _row, room, since: (room, since),
    "bfd_split": lambda _row, room, since: (room, since),
}


def filled(pieces: Pieces, C: int, key: Callable[[int, int, int], Any]) -> list[Pieces]:
    rows, room, since = list[Pieces](), list[int](), list[int]()
    for step, piece in enumerate(pieces):
        size = piece[2] - piece[1]
        fitting = [row for row in range(len(rows)) if room[row] >= size]
        row = min(fitting, key=lambda row: key(row, room[row], since[row]), default=len(rows))
        if row == len(rows):
            rows, room, since = [*rows, []], [*room, C], [*since, step]
        rows[row].append(piece)
        room[row], since[row] = room[row] - size, step
    return rows


@pytest.mark.parametrize("strategy", CHOICES)
@pytest.mark.parametrize("seed", seeds(200))
def test_each_piece_stands_in_the_row_that_its_strategy_defines(strategy: Any, seed: int) -> None:
    lengths, C = random_lengths(seed)
    ends = [range(0, length, C) if strategy == "bfd_split" else [0] for length in lengths]
    pieces = [(b, at, min(at + C, lengths[b])) for b, starts in enumerate(ends) for at in starts]
    if strategy != "first_fit":
        pieces.sort(key=lambda piece: piece[1] - piece[2])
    expected = filled(pieces, C, CHOICES[strategy])
    assert fill_rows(lengths, C, strategy).rows == tuple(map(tuple, expected))


@pytest.mark.parametrize("seed", seeds(50))
def test_next_fit_and_wrapped_keep_the_order(seed: int) -> None:
    lengths, C = random_lengths(seed)
    for strategy in ("next_fit", "wrapped"):
        found = fill_rows(lengths, C, strategy)
        pieces = [piece for row in found.rows for piece in row]
        assert pieces == sorted(pieces)
        later = [row[0] for row in found.lengths[1:]]
        enough = 1 if strategy == "wrapped" else later  # a row is left only if it is full, or the next one does not fit
        for n, row in enumerate(found.lengths[:-1]):
            assert C - sum(row) < (enough if isinstance(enough, int) else enough[n])


@pytest.mark.parametrize(("call", "parameter"), [
    (lambda: fill_rows([], 4), "lengths"),
    (lambda: fill_rows([3, 0], 4), "lengths"),
    (lambda: fill_rows([3, 1.5], 4), "lengths"),  # type: ignore[list-item]
    (lambda: fill_rows("321", 4), "lengths"),  # type: ignore[arg-type]
    (lambda: fill_rows([3], 0), "max_length"),
    (lambda: fill_rows([3], 4, "best"), "strategy"),  # type: ignore[arg-type]
])  # fmt: skip
def test_what_cannot_be_filled_is_refused(call: Callable[[], Rows], parameter: str) -> None:
    with pytest.raises(PackvizError) as refusal:
        call()
    assert refusal.value.parameter == parameter
