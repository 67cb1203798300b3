"""The tables hold the records' own numbers, row for row; that these are torch's is held by test_oracle.py."""

from functools import cache
from itertools import product
from string import ascii_uppercase
from typing import Any

import pandas as pd
import pytest
import torch
from random_runs import Run, random_run
from seeds import seeds
from torch import Tensor
from torch.nn.utils.rnn import pack_sequence

import packviz
from packviz.compute.trace import Trace, trace
from packviz.tables import (
    order_table,
    packed_table,
    padded_table,
    rows_table,
    run_table,
    sorted_table,
    unpacked_table,
)

LETTERS = [*ascii_uppercase, *map("".join, product(ascii_uppercase, repeat=2))]  # A to Z, AA to ZZ
Cells = list[tuple[int, int]]  # sequence and time step of each row
each_run = pytest.mark.parametrize("seed", seeds(21))


@cache
def traced(seed: int) -> tuple[Run, Trace]:
    run = random_run(seed)
    return run, trace(run.batch, run.config)


def numbers(table: Any, name: str) -> Tensor:
    """Return the columns of that name, (rows, columns), as the tensor they came from."""
    columns = [column for column in table.columns if column == name or column.startswith(f"{name}[")]
    return torch.from_numpy(table[columns].to_numpy(copy=True))


def places(table: pd.DataFrame) -> Cells:
    return [(LETTERS.index(name), t) for name, t in zip(table["sequence"], table["time step"], strict=True)]


def assert_tokens(table: pd.DataFrame, run: Run, cells: Cells) -> None:
    """Find in each row the token that was typed for that cell of the padded grid, and a pad if there is none."""
    T, left = max(run.lengths), run.config.padding_side == "left"
    typed = [(b, t - (T - run.lengths[b]) if left else t) for b, t in cells]
    real = [0 <= place < run.lengths[b] for b, place in typed]
    assert places(table) == cells
    assert table["padding"].tolist() == [not ok for ok in real]
    assert table["token"].tolist() == [run.texts[b][k] if ok else "" for (b, k), ok in zip(typed, real, strict=True)]


@each_run
def test_every_padded_cell_and_every_packed_row_has_its_token_and_value(seed: int) -> None:
    run, seen = traced(seed)
    padded, packed = padded_table(seen), packed_table(seen)
    assert_tokens(padded, run, list(product(range(len(run.lengths)), range(max(run.lengths)))))
    assert torch.equal(numbers(padded, "value"), seen.padded.grid.flatten(0, 1))
    assert_tokens(packed, run, seen.packed.origins)
    assert packed["packed row"].tolist() == list(range(sum(run.lengths)))
    assert torch.equal(numbers(packed, "value"), seen.packed.data)


@each_run
def test_every_sorted_row_has_its_sequence_its_length_and_both_indices(seed: int) -> None:
    run, seen = traced(seed)
    table, order = sorted_table(seen), seen.sorted.order.tolist()
    assert table["sorted row"].tolist() == list(range(len(order)))
    assert table["sequence"].tolist() == [LETTERS[b] for b in order]
    assert table["length"].tolist() == [run.lengths[b] for b in order] == sorted(run.lengths, reverse=True)
    for name in ("sorted_indices", "unsorted_indices"):
        indices = getattr(seen.packed_sequence, name)
        assert table[name].tolist() == ([None] * len(order) if indices is None else indices.tolist())


@each_run
def test_every_row_of_the_run_has_the_states_and_gates_that_were_recorded(seed: int) -> None:
    run, seen = traced(seed)
    for layer, ways in enumerate(seen.layers):
        for d, recorded in enumerate(ways):
            table = run_table(seen, layer, d)
            assert_tokens(table, run, seen.packed.origins)
            states = {"h": recorded.h} if recorded.c is None else {"h": recorded.h, "c": recorded.c}
            for name, rows in {**states, **recorded.gates}.items():
                assert torch.equal(numbers(table, name), rows)
    pd.testing.assert_frame_equal(run_table(seen), run_table(seen, len(seen.layers) - 1, 0))


@each_run
def test_every_unpacked_cell_has_its_output_and_final_states_are_named(seed: int) -> None:
    run, seen = traced(seed)
    output = seen.unpacked.output if run.config.batch_first else seen.unpacked.output.transpose(0, 1)
    table, cells = unpacked_table(seen), list(product(range(len(run.lengths)), range(output.size(1))))
    assert places(table) == cells
    assert table["padding"].tolist() == [t >= run.lengths[b] for b, t in cells]
    assert torch.equal(numbers(table, "output"), output.flatten(0, 1))
    D, H = len(seen.layers[0]), run.config.hidden_size
    for d, name in enumerate(("forward", "backward")[:D]):
        final = table[table["final state"].str.contains(name)]
        assert [b for b, _ in places(final)] == list(range(len(run.lengths)))
        assert torch.equal(numbers(final, "output")[:, d * H : (d + 1) * H], seen.h_n[d - D])


def test_the_order_of_a_row_and_of_a_packed_sequence_meet_at_each_token() -> None:
    batch = packviz.Batch.parse("a b c\nd\ne f")
    table = order_table(packviz.trace_rows(batch))
    data = pack_sequence(list(batch.sequences), enforce_sorted=False).data
    assert table["token"].tolist() == [*"abcdef"]
    assert data[table["packed row"].tolist()].tolist() == torch.cat(batch.sequences).tolist()
    assert places(table) == [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1)]


def test_a_cell_of_the_rows_has_its_integers_and_a_pad_has_no_sequence() -> None:
    run = packviz.trace_rows(packviz.Batch.parse("5 6 7\n8\n9 1"), packviz.RowConfig(max_length=4))
    table = rows_table(run)
    for name in ("input_ids", "position_ids", "document_ids", "labels"):
        assert table[name].tolist() == getattr(run, name).flatten().tolist()
    assert table["sequence"].tolist() == ["A", "A", "A", "B", "C", "C", "", ""]
    assert table["token"].tolist() == ["5", "6", "7", "8", "9", "1", "", ""]
    assert table["padding"].tolist() == [False] * 6 + [True] * 2
    assert table["time step"].tolist() == [0, 1, 2, 0, 0, 1, -1, -1]


@each_run
def test_every_column_has_one_plain_type_and_arrow_takes_it_as_it_is(seed: int) -> None:
    arrow, (_, seen) = pytest.importorskip("pyarrow"), traced(seed)
    plain = dict.fromkeys(("packed row", "sorted row", "time step", "length"), "int64") | {"padding": "bool"}
    for make in (padded_table, sorted_table, packed_table, run_table, unpacked_table):
        table = make(seen)
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
