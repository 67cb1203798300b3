"""The lines of code beside the picture are PyTorch: they run, and make the shapes and numbers that they say."""

import ast
import re
from typing import Any

import pytest
import torch
from movie_cases import CASES, PACKED, REFUSED, Case, over
from movie_screen import listed
from torch.nn.utils.rnn import PackedSequence

each_case = over(CASES)
each_packed = over(PACKED)
WIDEST = 44  # characters of a line beside the picture


def shape_text(value: Any) -> str:
    return f"data {tuple(value.data.shape)}" if isinstance(value, PackedSequence) else str(tuple(value.shape))


def result(line: str, space: dict[str, Any]) -> Any:
    """Run a line and return what its first name stands for, or its value if it names nothing."""
    (statement,) = ast.parse(line).body
    if not isinstance(statement, ast.Assign):
        return eval(line, space)
    exec(line, space)
    return eval(ast.unparse(statement.targets[0]).strip("()").split(",")[0], space)


@each_packed
def test_the_program_makes_what_the_movie_shows(
    case: Case,
) -> None:
    space = case.given()
    for line in case.movie.code:
        own = line.text == "# x, lengths: as given"
        assert own == (line is case.movie.code[0] and case.trace.batch is None)
        assert shape_text(space["x"] if own else result(line.text, space)) == line.shape
    expected = case.unpacked.transpose(0, 1) if case.transposed else case.unpacked
    torch.testing.assert_close(space["packed"].data, case.packed.data, equal_nan=True)
    torch.testing.assert_close(space["out"], expected, equal_nan=True)
    torch.testing.assert_close(space["h_n"], case.trace.h_n, equal_nan=True)
    for text, made in case.show.of("unpack")[-1][0]["detail"]:
        value = result(text, space)
        assert shape_text(value) == made
        if "==" in text:
            assert bool(value.all()) or case.trace.h_n.isnan().any()
        else:
            top = case.trace.h_n[-case.D :].transpose(0, 1).flatten(1)
            torch.testing.assert_close(value, top, equal_nan=True)


@each_case
def test_words_beside_a_shape_say_what_its_sizes_count(case: Case) -> None:
    x = case.trace.padded.values
    first, second, F = x.shape
    B, T = (second, first) if case.transposed else (first, second)
    lines = [line for step in case.show.steps for line in step.get("detail", ()) if re.match(r"# \d+ s[et]", line[0])]
    axes = [(re.findall(r"\d+ sequence|\d+ step|F = \d+", words), made) for words, made in lines if "step" in words]
    assert axes or F == 1
    for names, made in axes:
        here = [f"{T} step", f"{B} sequence"] if case.transposed else [f"{B} sequence", f"{T} step"]
        assert names == (here if made.count(",") == 1 else [*here, f"F = {F}"])
        assert made == str(tuple(x.shape)[: len(names)])


@each_packed
def test_the_module_is_made_as_in_its_line(case: Case) -> None:
    *_, (text, _) = case.show.of("run")[0][0]["detail"]
    own, made = case.trace.module, eval(text.removeprefix("# "), {"nn": torch.nn})
    shapes = [{name: each.shape for name, each in module.named_parameters()} for module in (own, made)]
    assert type(made) is type(own)
    assert shapes[0].items() <= shapes[1].items()  # it says nothing about biases


@over(REFUSED)
def test_a_refused_program_stops_with_torchs_message(case: Case) -> int:
    spoke, space = 0, case.given()
    *before, last = case.movie.code
    for line in before:
        if case.trace.batch:
            spoke += 1
            assert shape_text(result(line.text, space)) == line.shape
    with pytest.raises(RuntimeError) as caught:
        exec(last.text, space)
    assert str(caught.value) == case.show.steps[-1]["error"]
    return spoke


@each_case
def test_each_step_stands_at_its_line_of_code(case: Case) -> None:
    pack = "pack_padded_sequence("
    lines = {
        "pad": "as given" if case.trace.batch is None else "pad_sequence(", "embed": "embedding(", "sort": pack,
        "pack": pack, "run": f"{type(case.trace.module).__name__.lower()}(", "unpack": "pad_packed_sequence(",
    }  # fmt: skip
    for step in case.show.steps:
        assert lines[step["stage"]] in case.movie.code[step["code"]].text
        assert all(len(text) <= 2 * WIDEST for text, _ in step.get("detail", []))
    assert all(len(line) <= WIDEST for code in case.movie.code for line in code.text.splitlines())


@each_packed
def test_each_step_of_packing_takes_the_rows_that_it_says(case: Case) -> None:
    x, rows = case.trace.padded.values, torch.tensor(case.order)
    space = {"x": x, "x_sorted": x.index_select(1 if case.transposed else 0, rows), "data": case.packed.data}
    for t, (step, _) in enumerate(case.show.of("pack")):
        (taken, made), (sizes, count) = step["detail"]
        left, right = taken.split(" = ")
        torch.testing.assert_close(eval(right, space), eval(left, space), equal_nan=True)
        assert shape_text(eval(left, space)) == made
        assert listed(sizes.removeprefix("batch_sizes = "), case.batch_sizes[: t + 1])
        assert count == f"({t + 1},)"
