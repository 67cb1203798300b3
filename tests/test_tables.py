"""The tables hold the records' own numbers, row for row."""

from dataclasses import dataclass
from functools import cache
from itertools import product
from string import ascii_uppercase
from typing import Any

import pandas as pd
import pytest
import torch
from random_runs import Run, Torchs, random_run, torchs
from seeds import seeds
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.trace import Trace, trace
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.show.tables import packed_table, padded_table, run_table, sorted_table, unpacked_table


def made(text: str = "1 2 3\n4 5\n6 7 8 9", **settings: Any) -> Trace:
    return trace(Batch.parse(text), Config(**settings))


def numbers(table: Any, name: str) -> Tensor:
    """Return the columns of that name, (rows, columns), as the tensor they came from."""
    columns = [column for column in table.columns if column == name or column.startswith(f"{name}[")]
    return torch.from_numpy(table[columns].to_numpy(copy=True))


# Every row of every table, over random batches and settings, beside what torch makes of the same batch.

RUNS = seeds(21)
LETTERS = [*ascii_uppercase, *map("".join, product(ascii_uppercase, repeat=2))]  # A to Z, AA to ZZ

each_run = pytest.mark.parametrize("seed", RUNS)


@dataclass(frozen=True)
class Judged:
    """Hold a trace, what it was made from, and what torch makes of that."""

    seen: Trace
    made: Run
    own: Torchs

    @property
    def lengths(self) -> list[int]:
        return self.made.lengths

    @property
    def T(self) -> int:
        return max(self.lengths)

    @property
    def cells(self) -> list[tuple[int, int]]:
        return list(product(range(len(self.lengths)), range(self.T)))

    @property
    def packed_cells(self) -> list[tuple[int, int]]:
        """Return sequence and time step of every packed row: a grid of cell numbers is packed as the values are."""
        numbers = torch.arange(len(self.lengths) * self.T).view(len(self.lengths), self.T)
        packed = pack_padded_sequence(numbers, torch.tensor(self.lengths), True, self.made.config.enforce_sorted)
        return [divmod(number, self.T) for number in packed.data.tolist()]

    def text(self, b: int, t: int) -> str | None:
        """Return the text of the token that stands in that cell of the padded grid, None for a pad."""
        place = t - (self.T - self.lengths[b]) if self.made.config.padding_side == "left" else t
        return self.made.texts[b][place] if 0 <= place < self.lengths[b] else None

    def batch_first(self, grid: Tensor) -> Tensor:
        return grid if self.made.config.batch_first else grid.transpose(0, 1)


@cache
def judged(seed: int) -> Judged:
    run = random_run(seed)
    return Judged(trace(run.batch, run.config), run, torchs(run))


def places(table: pd.DataFrame) -> list[tuple[int, int]]:
    """Return sequence and time step of every row."""
    return [(LETTERS.index(name), t) for name, t in zip(table["sequence"], table["time step"], strict=True)]


def assert_tokens(table: pd.DataFrame, case: Judged, cells: list[tuple[int, int]]) -> None:
    texts = [case.text(b, t) for b, t in cells]
    assert places(table) == cells
    assert table["token"].tolist() == [text or "" for text in texts]
    assert table["padding"].tolist() == [text is None for text in texts]


@each_run
def test_every_padded_cell_and_every_packed_row_is_torchs(seed: int) -> None:
    case = judged(seed)
    padded, packed = padded_table(case.seen), packed_table(case.seen)
    assert_tokens(padded, case, case.cells)
    assert torch.equal(numbers(padded, "value"), case.batch_first(case.own.x).flatten(0, 1))
    assert_tokens(packed, case, case.packed_cells)
    assert packed["packed row"].tolist() == list(range(sum(case.lengths)))
    assert torch.equal(numbers(packed, "value"), case.own.packed.data)


@each_run
def test_every_sorted_row_is_torchs(seed: int) -> None:
    case = judged(seed)
    table, packed = sorted_table(case.seen), case.own.packed
    order = list(range(len(case.lengths))) if packed.sorted_indices is None else packed.sorted_indices.tolist()
    assert table["sorted row"].tolist() == list(range(len(case.lengths)))
    assert table["sequence"].tolist() == [LETTERS[b] for b in order]
    assert table["length"].tolist() == [case.lengths[b] for b in order] == sorted(case.lengths, reverse=True)
    for name in ("sorted_indices", "unsorted_indices"):
        indices = getattr(packed, name)
        assert table[name].tolist() == ([None] * len(order) if indices is None else indices.tolist())


@each_run
def test_every_row_of_the_run_is_torchs_and_its_gates_are_those_that_were_recorded(seed: int) -> None:
    case = judged(seed)
    H, top = case.made.config.hidden_size, case.made.config.num_layers - 1
    for layer, ways in enumerate(case.seen.layers):
        for d, recorded in enumerate(ways):
            table = run_table(case.seen, layer, d)
            assert_tokens(table, case, case.packed_cells)
            states = {"h": recorded.h} if recorded.c is None else {"h": recorded.h, "c": recorded.c}
            for name, rows in {**states, **recorded.gates}.items():
                assert torch.equal(numbers(table, name), rows)
            if layer == top:
                assert torch.equal(numbers(table, "h"), case.own.output.data[:, d * H : (d + 1) * H])
    pd.testing.assert_frame_equal(run_table(case.seen), run_table(case.seen, top, 0))


@each_run
def test_every_unpacked_cell_is_torchs(seed: int) -> None:
    case = judged(seed)
    table, grid = unpacked_table(case.seen), case.batch_first(case.own.unpacked)
    cells = list(product(range(len(case.lengths)), range(grid.size(1))))
    assert places(table) == cells
    assert table["padding"].tolist() == [t >= case.lengths[b] for b, t in cells]
    assert torch.equal(numbers(table, "output"), grid.flatten(0, 1))
    D, H = len(case.seen.layers[0]), case.made.config.hidden_size
    for d, name in enumerate(("forward", "backward")[:D]):
        final = table[table["final state"].str.contains(name)]
        assert [b for b, _ in places(final)] == list(range(len(case.lengths)))
        assert torch.equal(numbers(final, "output")[:, d * H : (d + 1) * H], case.own.state[0][d - D])


def all_tables(seen: Trace) -> list[pd.DataFrame]:
    return [make(seen) for make in (padded_table, sorted_table, packed_table, run_table, unpacked_table)]


@each_run
def test_every_column_has_one_plain_type_and_arrow_takes_it_as_it_is(seed: int) -> None:
    arrow, seen = pytest.importorskip("pyarrow"), judged(seed).seen
    plain = dict.fromkeys(("packed row", "sorted row", "time step", "length"), "int64") | {"padding": "bool"}
    for table in all_tables(seen):
        assert table.columns.is_unique
        assert isinstance(table.index, pd.RangeIndex)
        for name, column in table.items():
            if name in ("sequence", "token", "final state"):
                assert isinstance(column.dtype, pd.StringDtype), name
            elif name in ("sorted_indices", "unsorted_indices"):
                assert column.dtype == "int64" or column.isna().all(), name
            else:
                assert column.dtype == plain.get(str(name), str(seen.h_n.dtype).removeprefix("torch.")), name
        sent = arrow.Table.from_pandas(table)
        assert sent.to_pandas().equals(table)
        assert sent.column_names == list(table.columns)
