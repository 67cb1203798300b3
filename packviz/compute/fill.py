"""Filling rows: which pieces of which sequences stand in which row, by the strategies of the training libraries."""

from bisect import bisect_left, insort
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from torch import Tensor

from packviz.errors import PackvizError
from packviz.inputs.row_config import STRATEGIES, Strategy
from packviz.text import shown
from packviz.validate import choice, integer, is_integer

Piece = tuple[int, int, int]  # sequence, start, stop: its tokens from start up to, not including, stop
Row = tuple[Piece, ...]
MAX_LENGTH = 2**53  # above it, sums of lengths would not fit into int64
LONGEST_FIRST = ("ffd", "bfd", "bfd_split")  # strategies that place the longest pieces first


@dataclass(frozen=True)
class Rows:
    """Which tokens stand in which row.

    rows        for each row its pieces (sequence, start, stop), in the order in which they stand there
    dropped     the pieces that are in no row
    max_length  C, the cells of each row
    """

    rows: tuple[Row, ...]
    dropped: tuple[Piece, ...]
    max_length: int

    @property
    def lengths(self) -> tuple[tuple[int, ...], ...]:
        """Return for each row the lengths of its pieces."""
        return tuple(tuple(stop - start for _, start, stop in row) for row in self.rows)

    @cached_property
    def cells(self) -> tuple[list[tuple[int, int]], ...]:
        """Return for each row the token in each of its cells, but the free ones: its sequence and its place there."""
        return tuple([(b, t) for b, start, stop in row for t in range(start, stop)] for row in self.rows)

    def placed(self, row: int) -> list[tuple[int, Piece]]:
        """Return the pieces of a row, each with the first of its cells."""
        return list(zip(accumulate(self.lengths[row], initial=0), self.rows[row], strict=False))

    @property
    def tokens(self) -> int:
        """Return how many tokens stand in the rows."""
        return sum(map(sum, self.lengths))

    @property
    def padding(self) -> int:
        """Return the free cells in all rows."""
        return len(self.rows) * self.max_length - self.tokens

    @property
    def tokens_dropped(self) -> int:
        """Return how many tokens are in no row."""
        return sum(map(_size, self.dropped))

    @property
    def cut(self) -> tuple[int, ...]:
        """Return the sequences that are in several pieces, some of which may be dropped."""
        pieces = Counter(b for row in (*self.rows, self.dropped) for b, _, _ in row)
        return tuple(sorted(b for b, count in pieces.items() if count > 1))


def fill_rows(lengths: Sequence[int] | Tensor, max_length: int | None = None, strategy: Strategy = "bfd") -> Rows:
    """Put sequences of these lengths into rows of max_length cells; None: one row for all of them.

    wrapped     the sequences one after another, cut wherever a row is full
    next_fit    each sequence into the last row, or into a new one if it does not fit there
    first_fit   each sequence into the first row that has room for it, or into a new one
    ffd         first_fit, longest first; equal lengths in their order
    bfd         best fit, longest first, equal lengths in their order: into the row with the least room that is
                enough; among rows with equal room into the one that has had it longest, as in TRL
    bfd_split   bfd, after each sequence longer than a row was cut into pieces of max_length and a rest

    Except in wrapped and bfd_split, what exceeds max_length is cut off a sequence and dropped. Raises PackvizError
    for lengths or a max_length below 1, and for an unknown strategy.

    >>> fill_rows([5, 2, 3, 1], max_length=4).rows
    (((0, 0, 4),), ((2, 0, 3), (3, 0, 1)), ((1, 0, 2),))
    """
    known = checked_lengths(lengths)
    C = sum(known) if max_length is None else integer("max_length", max_length, 1, or_none=True)
    rows = tuple(map(tuple, _filled(known, C, choice("strategy", strategy, STRATEGIES))))
    keeps_all = strategy in ("wrapped", "bfd_split")
    dropped = () if keeps_all else tuple((b, C, length) for b, length in enumerate(known) if length > C)
    return Rows(rows, dropped, C)


def checked_lengths(lengths: Sequence[int] | Tensor) -> list[int]:
    """Return lengths as a list; raises PackvizError if there is none, or for one that is no integer of at least 1."""
    given = lengths.tolist() if isinstance(lengths, Tensor) else lengths
    known = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    fix = "give the number of tokens of each sequence"
    if not known:
        raise PackvizError("lengths", expected="at least one length", got=shown(lengths), fix=fix)
    for b, length in enumerate(known):
        if not is_integer(length, 1, MAX_LENGTH):
            got = f"{shown(length)} at index {b}"
            expected = "integers of at least 1" + (" and at most 2**53" if is_integer(length, 1) else "")
            raise PackvizError("lengths", expected=expected, got=got, fix=fix)
    return [int(length) for length in known]


def _size(piece: Piece) -> int:
    return piece[2] - piece[1]


def _heads(lengths: Sequence[int], C: int) -> list[Piece]:
    return [(b, 0, min(length, C)) for b, length in enumerate(lengths)]


def _parts(lengths: Sequence[int], C: int) -> list[Piece]:
    return [(b, at, min(at + C, length)) for b, length in enumerate(lengths) for at in range(0, length, C)]


def _longest_first(pieces: list[Piece]) -> list[Piece]:
    return sorted(pieces, key=_size, reverse=True)  # stable: equal lengths keep their order


def _wrapped(lengths: Sequence[int], C: int) -> list[list[Piece]]:
    rows, room = list[list[Piece]](), 0
    for b, length in enumerate(lengths):
        start = 0
        while start < length:
            if room == 0:
                rows.append([])
                room = C
            stop = min(length, start + room)
            rows[-1].append((b, start, stop))
            start, room = stop, room - (stop - start)
    return rows


def _next_fit(pieces: list[Piece], C: int) -> list[list[Piece]]:
    rows, room = list[list[Piece]](), 0
    for piece in pieces:
        if _size(piece) > room:
            rows.append([])
            room = C
        rows[-1].append(piece)
        room -= _size(piece)
    return rows


def _first_fit(pieces: list[Piece], C: int) -> list[list[Piece]]:
    rows, room = list[list[Piece]](), np.full(len(pieces), C)  # of the rows in use, and of as many as may be needed
    for piece in pieces:
        row = int(np.argmax(room >= _size(piece)))
        if row == len(rows):
            rows.append([])
        rows[row].append(piece)
        room[row] -= _size(piece)
    return rows


def _best_fit(pieces: list[Piece], C: int) -> list[list[Piece]]:
    rows, rooms = list[list[Piece]](), [C]  # the sizes of room that there are, sorted; a new row has C
    waiting: dict[int, deque[list[Piece]]] = defaultdict(deque)  # by room, the rows that have it, the longest first
    for piece in pieces:
        room = rooms[bisect_left(rooms, _size(piece))]
        if room == C:
            row: list[Piece] = []
            rows.append(row)
        else:
            row = waiting[room].popleft()
            if not waiting[room]:
                rooms.remove(room)
        row.append(piece)
        left = room - _size(piece)
        if left and not waiting[left]:
            insort(rooms, left)
        waiting[left].append(row)
    return rows


_FIT: Mapping[Strategy, Callable[[list[Piece], int], list[list[Piece]]]] = {
    "next_fit": _next_fit,
    "first_fit": _first_fit,
    "ffd": _first_fit,
    "bfd": _best_fit,
    "bfd_split": _best_fit,
}


def _filled(lengths: Sequence[int], C: int, strategy: Strategy) -> list[list[Piece]]:
    if strategy == "wrapped":
        return _wrapped(lengths, C)
    pieces = _parts(lengths, C) if strategy == "bfd_split" else _heads(lengths, C)
    return _FIT[strategy](_longest_first(pieces) if strategy in LONGEST_FIRST else pieces, C)
