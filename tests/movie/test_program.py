"""The lines of code beside the picture are PyTorch: they run, and make the shapes and numbers that they say."""

import ast
from collections.abc import Callable
from typing import Any, cast

import pytest
import torch
import torch.nn.functional as F
from movie_cases import CASES, PACKED, REFUSED, Case, over
from run_cases import steps_left_out
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence

from packviz.show.movie.marks import CodeLine

each_case = over(CASES)
each_packed = over(PACKED)
WIDEST = 44  # characters of a line beside the picture


def given(case: Case) -> dict[str, Any]:
    """Return what a reader of the program has: torch's functions, the sequences, the module, its initial state.

    Of a grid of one's own there is x instead of the sequences.
    """
    trace, table = case.trace, case.trace.padded.embedding
    sequences = [] if not trace.batch else list(trace.batch.sequences)
    if table is None:
        sequences = [s.to(case.module.weight_ih_l0.dtype) for s in sequences]
    return {
        "pad_sequence": pad_sequence,
        "pack_padded_sequence": pack_padded_sequence,
        "pad_packed_sequence": pad_packed_sequence,
        "cat": torch.cat,
        "embedding": lambda ids: F.embedding(ids.long(), cast(Tensor, table)),
        **({"sequences": sequences} if trace.batch else {"x": trace.padded.values}),
        "lengths": torch.tensor(case.judge.lengths),
        "B": case.judge.B,
        type(trace.module).__name__.lower(): trace.module,
        "h_0": case.judge.h_0,
        "c_0": case.judge.c_0,
    }


def shape_of(value: Any) -> str:
    return f"data {tuple(value.data.shape)}" if isinstance(value, PackedSequence) else str(tuple(value.shape))


def result(line: str, space: dict[str, Any]) -> Any:
    """Run a line and return what its first name stands for, or its value where it names nothing."""
    (statement,) = ast.parse(line).body
    if not isinstance(statement, ast.Assign):
        return eval(line, space)
    exec(line, space)
    return eval(ast.unparse(statement.targets[0]).strip("()").split(",")[0], space)


def run(case: Case) -> tuple[dict[str, Any], dict[str, str]]:
    """Run the whole program; return its names, and the shape of each line."""
    space, shapes = given(case), {}
    for line in case.movie.code:
        if line.text == "# x, lengths: as given":
            assert case.trace.batch is None
            shapes[line.text] = shape_of(space["x"])
            continue
        shapes[line.text] = shape_of(result(line.text, space))
    return space, shapes


@each_packed
def test_the_program_runs_makes_the_shapes_that_it_says_and_computes_what_the_movie_shows(case: Case) -> None:
    space, shapes = run(case)
    assert shapes == {line.text: line.shape for line in case.movie.code}
    expected = case.judge.unpacked.transpose(0, 1) if case.transposed else case.judge.unpacked
    torch.testing.assert_close(space["packed"].data, case.judge.packed.data, equal_nan=True)
    torch.testing.assert_close(space["out"], expected, equal_nan=True)
    torch.testing.assert_close(space["h_n"], case.judge.h_n, equal_nan=True)


@over(REFUSED)
def test_the_program_that_torch_refuses_stops_at_the_last_line_with_the_same_message(case: Case) -> int:
    spoke = 0
    space = given(case)
    *before, last = case.movie.code
    for line in before:
        if case.trace.batch:
            spoke += 1
            assert shape_of(result(line.text, space)) == line.shape
    with pytest.raises(RuntimeError) as caught:
        exec(last.text, space)
    assert str(caught.value) == case.show.steps[-1]["error"]
    return spoke


@each_case
def test_each_step_stands_at_its_line_and_no_line_is_too_wide_for_its_place(case: Case) -> None:
    pack = "pack_padded_sequence("
    lines = {
        "pad": "as given" if case.trace.batch is None else "pad_sequence(", "embed": "embedding(", "sort": pack,
        "pack": pack, "run": f"{type(case.trace.module).__name__.lower()}(", "unpack": "pad_packed_sequence(",
    }  # fmt: skip
    for step in case.show.steps:
        assert lines[step["stage"]] in case.movie.code[step["code"]].text
        assert all(len(line.text) <= 2 * WIDEST for line in details_of(step))
    assert all(len(line) <= WIDEST for code in case.movie.code for line in code.text.splitlines())


@each_packed
def test_each_step_of_packing_takes_the_rows_that_it_says(case: Case) -> None:
    x, rows = case.trace.padded.values, torch.tensor(case.judge.order)
    space = {"x": x, "x_sorted": x.index_select(1 if case.transposed else 0, rows), "data": case.judge.packed.data}
    for t, (step, _) in enumerate(case.show.of("pack")):
        taken, sizes = details_of(step)
        left, right = taken.text.split(" = ")
        torch.testing.assert_close(eval(right, space), eval(left, space), equal_nan=True)
        assert shape_of(eval(left, space)) == taken.shape
        assert listed(sizes.text.removeprefix("batch_sizes = "), case.judge.batch_sizes[: t + 1])
        assert sizes.shape == f"({t + 1},)"


@each_packed
def test_each_step_of_the_run_is_torchs_own_cell(case: Case) -> None:
    layer, direction = case.watched
    space: dict[str, Any] = {"cat": torch.cat, "h_0": case.judge.h_0, "data": case.judge.entering(0)}
    space |= {"sorted_indices": case.judge.packed.sorted_indices}
    space |= {f"output{below}": case.judge.entering(below + 1) for below in range(layer)}
    start, *steps = case.show.of("run")
    (line,) = details_of(start[0])
    h = result(line.text, space)
    assert shape_of(h) == line.shape
    torch.testing.assert_close(h, case.h_0[case.judge.order])
    space |= cell_of(case)
    if steps_left_out(case):
        return  # they are not written down
    order = range(len(steps))
    for t, (step, _) in zip(reversed(order) if direction else order, steps, strict=True):
        for line in details_of(step):
            assert shape_of(result(line.text, space)) == line.shape, line.text
        rows = [case.judge.row[b, t] for b in case.judge.live(t)]
        if not case.trace.module.proj_size:
            torch.testing.assert_close(space["h"], case.hidden[rows], equal_nan=True)


def cell_of(case: Case) -> dict[str, Any]:
    """Return torch's cell with the weights of the watched layer, under its name in the code; c is kept beside h."""
    module, (layer, direction) = case.module, case.watched
    suffix = f"_l{layer}" + ("_reverse" if direction else "")
    kind: Any = {"GRU": nn.GRUCell, "LSTM": nn.LSTMCell}.get(module.mode, nn.RNNCell)
    named = {"nonlinearity": module.nonlinearity} if kind is nn.RNNCell else {}
    width = module.input_size if layer == 0 else case.judge.entering(layer).shape[1]
    name = type(module).__name__.lower()
    if module.proj_size:
        return {name: lambda _, state: state, "c": torch.zeros(case.judge.B, 1)}  # torch has no such cell: shapes only
    named |= {"bias": module.bias, "dtype": module.weight_ih_l0.dtype}
    cell = kind(width, module.hidden_size, **named).requires_grad_(False)
    for parameter in ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if module.bias else ())):
        getattr(cell, parameter).data = getattr(module, parameter + suffix).data
    if kind is not nn.LSTMCell:
        return {name: cell}
    c_0 = case.judge.c_0[case.row_of_h][case.judge.order]
    return {name: _with_memory(cell, c_0), "c": c_0}


def _with_memory(cell: nn.LSTMCell, c_0: Tensor) -> Callable[[Tensor, tuple[Tensor, Any]], tuple[Tensor, Tensor]]:
    memory = c_0.clone()

    def step(x: Tensor, state: tuple[Tensor, Any]) -> tuple[Tensor, Tensor]:
        h, c = cell(x, (state[0], memory[: len(x)]))
        memory[: len(x)] = c
        return h, c

    return step


@each_packed
def test_the_last_valid_step_is_h_n_as_the_code_says(case: Case) -> None:
    space, _ = run(case)
    for line in details_of(case.show.of("unpack")[-1][0]):
        value = result(line.text, space)
        assert shape_of(value) == line.shape
        if "==" in line.text:
            assert bool(value.all()) or case.judge.h_n.isnan().any()
        else:
            top = case.judge.h_n[-case.judge.D :].transpose(0, 1).flatten(1)
            torch.testing.assert_close(value, top, equal_nan=True)


def details_of(step: dict[str, Any]) -> list[CodeLine]:
    """Return the lines of a step that say what happens within it."""
    return [CodeLine(*line) for line in step.get("detail", [])]


def listed(text: str, truth: list[int]) -> bool:
    if "…" not in text:
        return bool(eval(text) == truth)
    first, last = text.strip("[]").split(", … ")
    return bool([*map(int, first.split(", "))] == truth[:8] and int(last) == truth[-1])
