"""The tables hold the records' own numbers, row for row."""

from dataclasses import dataclass
from functools import cache
from itertools import product
from string import ascii_uppercase
from typing import Any

import pandas as pd
import pytest
import torch
from random_runs import Run, random_run, reached
from seeds import all_of_them, seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from trace_cases import torch_run

from packviz.compute.trace import Trace, trace, trace_module
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.show.tables import packed_table, padded_table, run_table, sorted_table, unpacked_table


def made(text: str = "1 2 3\n4 5\n6 7 8 9", **settings: Any) -> Trace:
    return trace(Batch.parse(text), Config(**settings))


def numbers(table: Any, name: str) -> Tensor:
    """Return the columns of that name, (rows, columns), as the tensor they came from."""
    columns = [column for column in table.columns if column == name or column.startswith(f"{name}[")]
    return torch.from_numpy(table[columns].to_numpy(copy=True))


def test_the_packed_table_of_the_first_example() -> None:
    table = packed_table(made())
    assert table["packed row"].tolist() == list(range(9))
    assert table["sequence"].tolist() == list("CABCABCAC")
    assert table["time step"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3]
    assert table["token"].tolist() == list("614725839")
    assert table["value"].tolist() == [6, 1, 4, 7, 2, 5, 8, 3, 9]
    assert not table["padding"].any()


def test_the_padded_table_has_a_row_for_every_cell() -> None:
    table = padded_table(made())
    assert table["sequence"].tolist() == list("AAAABBBBCCCC")
    assert table["time step"].tolist() == [0, 1, 2, 3] * 3
    assert table["token"].tolist() == ["1", "2", "3", "", "4", "5", "", "", "6", "7", "8", "9"]
    assert table["padding"].tolist() == [token == "" for token in table["token"]]
    assert table["value"].tolist() == [1, 2, 3, 0, 4, 5, 0, 0, 6, 7, 8, 9]


def test_on_the_left_the_tokens_come_after_the_padding() -> None:
    seen = made(padding_side="left")
    table = padded_table(seen)
    assert table["token"].tolist() == ["", "1", "2", "3", "", "", "4", "5", "6", "7", "8", "9"]
    packed = packed_table(seen)
    assert packed["padding"].sum() == 3
    assert packed["token"].tolist() == ["6", "", "", "7", "1", "", "8", "2", "9"]


def test_of_a_single_step_both_directions_are_final() -> None:
    table = unpacked_table(made("1 2\n3", bidirectional=True))
    assert table["final state"].tolist() == ["backward", "forward", "forward and backward", ""]


def test_a_module_of_your_own_has_tables_too() -> None:
    seen = trace_module(nn.LSTM(2, 3, proj_size=1), torch.randn(3, 2, 2), torch.tensor([3, 1]))
    assert padded_table(seen)["token"].tolist() == [""] * 6
    assert numbers(run_table(seen), "h").shape == (4, 1)
    assert numbers(run_table(seen), "c").shape == (4, 3)
    assert len(unpacked_table(seen)) == 6


# Every row of every table, over random batches and settings, beside what plain Python and torch make of the same cells.

RUNS = seeds(42)
LETTERS = [*ascii_uppercase, *map("".join, product(ascii_uppercase, repeat=2))]  # A to Z, AA to ZZ

each_run = pytest.mark.parametrize("seed", RUNS)


@dataclass(frozen=True)
class Judged:
    """Hold a trace and what it was made from, as Python sees it."""

    seen: Trace
    made: Run

    @property
    def config(self) -> Config:
        return self.made.config

    @property
    def lengths(self) -> list[int]:
        return self.made.lengths

    @property
    def T(self) -> int:
        return max(self.lengths)

    def place(self, b: int, t: int) -> int | None:
        """Return which token of its sequence stands in that cell of the padded grid, None for a pad."""
        place = t - (self.T - self.lengths[b]) if self.config.padding_side == "left" else t
        return place if 0 <= place < self.lengths[b] else None

    def text(self, b: int, t: int) -> str:
        place = self.place(b, t)
        return "" if place is None else self.made.texts[b][place]

    def values(self) -> Tensor:
        """Return the padded grid (B, T, F), drawn cell by cell, with torch's own embedding where there is one."""
        rows, pad = self.made.rows, self.config.padding_idx or 0
        if not self.made.embedded:
            F = len(rows[0][0]) if isinstance(rows[0][0], list) else 1
            grid = torch.full((len(rows), self.T, F), self.config.padding_value, dtype=self.seen.h_n.dtype)
        else:
            words = dict.fromkeys(token for row in rows for token in row)
            if self.made.batch.kind == "words":
                known = {word: i for i, word in enumerate(words, 1)}
                rows = [[known[word] for word in row] for row in rows]
            grid = torch.full((len(rows), self.T), pad)
        for b, t in self.cells():
            if (place := self.place(b, t)) is not None:
                grid[b, t] = torch.tensor(rows[b][place], dtype=grid.dtype)
        return self._embedded(grid, pad) if self.made.embedded else grid

    def _embedded(self, ids: Tensor, pad: int) -> Tensor:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(self.config.seed)
            E, highest = self.config.embedding_dim or 4, max(pad, int(ids.max()))
            return nn.Embedding(highest + 1, E, self.config.padding_idx).weight.detach()[ids]

    def cells(self) -> list[tuple[int, int]]:
        return list(product(range(len(self.lengths)), range(self.T)))

    def pack(self, grid: Tensor) -> PackedSequence:
        return pack_padded_sequence(grid, torch.tensor(self.lengths), True, self.config.enforce_sorted)

    def packed_cells(self) -> list[tuple[int, int]]:
        """Return sequence and time step of every packed row: a grid of cell numbers is packed as the values are."""
        cells = torch.arange(len(self.lengths) * self.T).view(len(self.lengths), self.T)
        return [divmod(cell, self.T) for cell in self.pack(cells).data.tolist()]

    def run(self, layers: int) -> tuple[PackedSequence, Tensor, Tensor | None]:
        """Return torch's own packed output, h_n and c_n of the lowest layers alone."""
        whole, slots = self.seen.module, layers * (2 if self.config.bidirectional else 1)
        shared: dict[str, Any] = {
            "bias": whole.bias,
            "bidirectional": whole.bidirectional,
            "dtype": self.seen.h_n.dtype,
        }
        if whole.mode.startswith("RNN"):
            shared["nonlinearity"] = self.config.nonlinearity
        kind: Any = type(whole)
        lowest = kind(whole.input_size, whole.hidden_size, layers, **shared)
        lowest.load_state_dict({name: whole.state_dict()[name] for name in lowest.state_dict()})
        h_0, c_0 = self.seen.h_0[:slots], None if self.seen.c_0 is None else self.seen.c_0[:slots]
        output, (h_n, *c_n) = torch_run(lowest, self.pack(self.values()), h_0 if c_0 is None else (h_0, c_0))
        return output, h_n, c_n[0] if c_n else None


@cache
def judged(seed: int) -> Judged:
    run = random_run(seed)
    return Judged(trace(run.batch, run.config), run)


def places(table: pd.DataFrame) -> list[tuple[int, int]]:
    """Return sequence and time step of every row."""
    return [(LETTERS.index(name), t) for name, t in zip(table["sequence"], table["time step"], strict=True)]


@each_run
def test_every_padded_cell_is_true(seed: int) -> None:
    case = judged(seed)
    table = padded_table(case.seen)
    assert places(table) == case.cells()
    assert table["token"].tolist() == [case.text(b, t) for b, t in case.cells()]
    assert table["padding"].tolist() == [case.place(b, t) is None for b, t in case.cells()]
    assert torch.equal(numbers(table, "value"), case.values().flatten(0, 1))


@each_run
def test_every_sorted_row_is_true(seed: int) -> None:
    case = judged(seed)
    table = sorted_table(case.seen)
    packed = case.pack(case.values())
    order = list(range(len(case.lengths))) if packed.sorted_indices is None else packed.sorted_indices.tolist()
    assert table["sorted row"].tolist() == list(range(len(case.lengths)))
    assert table["sequence"].tolist() == [LETTERS[b] for b in order]
    assert table["length"].tolist() == [case.lengths[b] for b in order] == sorted(case.lengths, reverse=True)
    for name in ("sorted_indices", "unsorted_indices"):
        indices = getattr(packed, name)
        assert table[name].tolist() == ([None] * len(order) if indices is None else indices.tolist())


@each_run
def test_every_packed_row_is_true(seed: int) -> None:
    case = judged(seed)
    table = packed_table(case.seen)
    assert_packed_rows(table, case)
    assert torch.equal(numbers(table, "value"), case.pack(case.values()).data)


def assert_packed_rows(table: pd.DataFrame, case: Judged) -> None:
    assert table["packed row"].tolist() == list(range(sum(case.lengths)))
    assert places(table) == case.packed_cells()
    assert table["token"].tolist() == [case.text(b, t) for b, t in case.packed_cells()]
    assert table["padding"].tolist() == [case.place(b, t) is None for b, t in case.packed_cells()]


@each_run
def test_every_row_of_every_layer_and_direction_is_true(seed: int) -> None:
    case = judged(seed)
    D, H = (2 if case.config.bidirectional else 1), case.config.hidden_size
    below = case.pack(case.values()).data  # what enters the layer, (N, F), then (N, D*H)
    for layer in range(case.config.num_layers):
        output, _, c_n = case.run(layer + 1)
        for d in range(D):
            table = run_table(case.seen, layer, d)
            assert_packed_rows(table, case)
            assert torch.equal(numbers(table, "h"), output.data[:, d * H : (d + 1) * H])
            if c_n is not None:
                assert torch.equal(numbers(table, "c")[final_rows(case, backward=d == 1)], c_n[layer * D + d])
            assert_gates(table, case, layer, d, below)
        below = output.data
    top = run_table(case.seen)
    pd.testing.assert_frame_equal(top, run_table(case.seen, case.config.num_layers - 1, 0))


def final_rows(case: Judged, *, backward: bool) -> list[int]:
    cells = case.packed_cells()
    return [cells.index((b, 0 if backward else length - 1)) for b, length in enumerate(case.lengths)]


def assert_gates(table: pd.DataFrame, case: Judged, layer: int, d: int, below: Tensor) -> None:
    """Compute each row's gates by the formulas of torch's documentation, from the row of the step before it."""
    module, named = case.seen.module, f"l{layer}{'_reverse' if d else ''}"
    h = numbers(table, "h")
    cells, slot = case.packed_cells(), layer * (2 if case.config.bidirectional else 1) + d
    at = {cell: row for row, cell in enumerate(cells)}
    came_from = [at.get((b, t + 1 if d else t - 1)) for b, t in cells]
    before = [case.seen.h_0[slot, b] if r is None else h[r] for (b, _), r in zip(cells, came_from, strict=True)]
    with torch.no_grad():
        x = nn.functional.linear(below, *weights_of(module, "ih", named))
        hidden = nn.functional.linear(torch.stack(before), *weights_of(module, "hh", named))
    for name, wanted in formulas(case.config.cell, x, hidden).items():
        torch.testing.assert_close(numbers(table, name), wanted, rtol=1e-4, atol=1e-5)


def weights_of(module: nn.RNNBase, part: str, named: str) -> tuple[Tensor, Tensor | None]:
    return getattr(module, f"weight_{part}_{named}"), getattr(module, f"bias_{part}_{named}", None)


def formulas(cell: str, x: Tensor, hidden: Tensor) -> dict[str, Tensor]:
    if cell == "rnn":
        return {}
    if cell == "gru":
        (x_r, x_z, x_n), (h_r, h_z, h_n) = x.chunk(3, 1), hidden.chunk(3, 1)
        r = torch.sigmoid(x_r + h_r)
        return {"r": r, "z": torch.sigmoid(x_z + h_z), "n": torch.tanh(x_n + r * h_n)}
    i, f, g, o = (x + hidden).chunk(4, 1)
    return {"i": torch.sigmoid(i), "f": torch.sigmoid(f), "g": torch.tanh(g), "o": torch.sigmoid(o)}


@each_run
def test_every_unpacked_cell_is_true(seed: int) -> None:
    case = judged(seed)
    table = unpacked_table(case.seen)
    output, h_n, _ = case.run(case.config.num_layers)
    grid, _ = pad_packed_sequence(output, True, case.config.padding_value, case.config.total_length)
    cells = list(product(range(len(case.lengths)), range(grid.size(1))))
    assert places(table) == cells
    assert table["padding"].tolist() == [t >= case.lengths[b] for b, t in cells]
    assert torch.equal(numbers(table, "output"), grid.flatten(0, 1))
    D, H = (2 if case.config.bidirectional else 1), case.config.hidden_size
    for d, name in enumerate(("forward", "backward")[:D]):
        final = table[table["final state"].str.contains(name)]
        assert [b for b, _ in places(final)] == list(range(len(case.lengths)))
        assert torch.equal(numbers(final, "output")[:, d * H : (d + 1) * H], h_n[d - D])


@all_of_them
def test_the_random_runs_reach_every_setting() -> None:
    cases = [judged(seed) for seed in RUNS]
    values = reached([case.made for case in cases])
    assert all(len(seen) > 1 for seen in values.values()), values
    assert any(case.config.padding_side == "left" and case.seen.packed_is_pad.any() for case in cases)
    assert max(len(case.lengths) for case in cases) > 26


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


def test_a_table_is_a_copy_of_the_record() -> None:
    seen = made(cell="lstm")
    before = seen.output.clone(), seen.packed.data.clone(), seen.padded.values.clone()
    for table in all_tables(seen):
        for name in table.columns[table.dtypes == "float32"]:
            table.loc[:, name] = 99.0
    assert all(map(torch.equal, before, (seen.output, seen.packed.data, seen.padded.values)))


def test_where_torch_refuses_only_the_padded_table_is_there() -> None:
    seen = made("1\n2 3", enforce_sorted=True)
    assert padded_table(seen)["token"].tolist() == ["1", "", "2", "3"]
    for make in (sorted_table, packed_table, run_table, unpacked_table):
        with pytest.raises(PackvizError) as refusal:
            make(seen)
        assert refusal.value.torch_says == seen.error
