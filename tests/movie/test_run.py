"""The run shows torch's own states, step by step; with all its whys gates as numbers, and formulas that lead there."""

import math
import re
from itertools import product
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from movie_cases import DEEP, ORDINARY, PACKED, Case, CaseMovie, case_of, over
from movie_screen import Look, Show, close, grid_of, in_numbers, match, state, units_of
from torch import Tensor, nn

import packviz as pv
from packviz import Batch, Config
from packviz.text import sequence_label

each_packed, each_run = over(PACKED), over([film for film in (*ORDINARY, *DEEP) if film.of in PACKED])


def steps(case: Case, show: Show) -> list[tuple[int, dict[str, Look]]]:
    """Return (time step, cells after it) in order of processing; the start is left out."""
    filmed = range(min(len(case.batch_sizes), 60))
    order = reversed(filmed) if case.direction else filmed
    return list(zip(order, [cells for _, cells in show.of("run")[1:]], strict=True))


def row_inside(case: Case, n: int) -> dict[str, Tensor]:
    """Return the gates and c of a packed row, as the trace has them: test_oracle.py proves them equal to torch's."""
    layer, direction = case.watched
    return {name: rows[n] for name, rows in case.trace.layers[layer][direction].rows.items() if name != "h"}


def ended(case: Case, t: int) -> set[int]:
    """Return the sequences whose state is final once the run has taken t."""
    return {b for b in case.filmed if (t == 0 if case.direction else t >= case.lengths[b] - 1)}


@each_run
def test_h_is_torchs_after_every_step(film: CaseMovie) -> None:
    case, show = film.case, film.show
    _, start = show.of("run")[0]
    for b in case.filmed:
        assert close(state(start, "h", b), case.h_0[b])
        assert state(start, "hn", b) is None
    for t, cells in steps(case, show):
        over = ended(case, t)
        assert {cell["seq"] for name, cell in cells.items() if name.startswith("ring:h:") and cell["shown"]} == over
        for b in case.filmed:
            final = state(cells, "hn", b)
            assert close(state(cells, "h", b), case.held(b, t)), (t, b)
            assert (final is not None) == (b in over) == cells[f"ring:hn:{b}"]["shown"]
            assert final is None or close(final, case.trace.h_n[case.row_of_h, b])


@each_run
def test_the_states_that_enter_a_window_are_torchs(film: CaseMovie) -> None:
    case, show = film.case, film.show
    _, (step, _) = show.of("run")[:2]
    cells = show.at(next(i for i, each in enumerate(show.steps) if each is step))
    names = {"h": "h", "c": "gate:c"} if any(name.startswith("gate:c:") for name in cells) else {"h": "h"}
    for b, (name, panel) in product(case.filmed, names.items()):
        assert close(state(cells, panel, b), case.held(b, 60 if case.direction else -1, name)), (b, name)


@each_run
def test_h_stands_in_packed_order_and_h_n_in_the_original_one(film: CaseMovie) -> None:
    case, show = film.case, film.show
    cells = show.after[-1]
    for name, order in (("h", case.filmed), ("hn", case.rows)):
        states = [cell for cell in cells.values() if cell["p"] == name and cell["role"] in ("value", "vector")]
        placed = grid_of(states, transposed=False)
        assert [placed[row, 0]["seq"] for row in range(len(order))] == order
        assert all(cell["seq"] == order[row] for (row, _), cell in placed.items())


@each_run
def test_what_is_fed_are_the_live_rows_that_torch_packed_and_their_tokens(film: CaseMovie) -> int:
    case, show = film.case, film.show
    layer, spoke = case.watched[0], 0
    entering = case.entering(layer)
    for t, cells in steps(case, show):
        fed = [b for b in case.filmed if cells[f"in:{b}"]["shown"]]
        assert fed == [b for b in case.live(t) if b in case.filmed]
        for b in fed:
            spoke += 1
            cell = cells[f"in:{b}"]
            if cell.get("vec"):
                row = entering[case.row[b, t]]
                halves = row.view(case.D, -1) if layer else row.view(1, -1)
                assert close(cell["vec"], halves[:, : len(cell["vec"]) // len(halves)])
                assert cell["scale"] == ("state" if layer else "input")
            else:
                assert case.small or (layer == 0 and len(entering[0]) == 1)
            if case.mask[b][t]:
                assert case.movie.tokens[cell["token"]] == (b, t)
                assert cell["text"] == show.first[f"token:{b}:{t}"]["text"]
            else:
                assert cell.get("token") is None, "a pad that was packed by mistake is no token"
    return spoke


@each_packed
def test_gates_and_c_are_those_of_the_cell_and_only_of_rows_that_are_fed(case: Case) -> int:
    spoke = 0
    gates = [name for name in case.show.ids if name.startswith("gate:")]
    assert bool(gates) == (not case.small and case.module.mode in ("GRU", "LSTM"))
    for t, cells in steps(case, case.show) if gates else []:
        live = case.live(t)
        for name in gates:
            if not name.startswith("gate:c:"):
                spoke += 1
                assert cells[name]["shown"] == (cells[name]["seq"] in live)
        for b in live:
            inside = row_inside(case, case.row[b, t])
            shown = {name.split(":")[1]: cells[name] for name in gates if name.endswith(f":{b}")}
            assert set(shown) == set(inside)
            for gate, cell in shown.items():
                assert cell["shown"]
                assert close(cell["vec"], inside[gate]), (gate, b, t)
    return spoke


@each_run
def test_the_output_fills_with_the_states_of_the_steps_that_were_taken(film: CaseMovie) -> None:
    case, show, taken = film.case, film.show, set[int]()
    for t, cells in steps(case, show):
        taken.add(t)
        outputs = (each for each in cells.values() if each["p"] == "out" and each["role"] == "output" and each["shown"])
        shown = sorted(outputs, key=lambda cell: cell["x"])
        expected = [(b, step) for b, step in case.at if step in taken and b in case.filmed]
        assert [tuple(map(int, cell["id"].split(":")[1:])) for cell in shown] == expected
        if t in (0, len(case.batch_sizes) - 1):
            for cell, position in zip(shown, expected, strict=True):
                assert close(cell["vec"], case.hidden[case.row[position]])


@each_run
def test_a_higher_layer_reads_the_output_of_the_layer_below(film: CaseMovie) -> int:
    case, show = film.case, film.show
    layer, cells, spoke = case.watched[0], show.of("run")[0][1], 0
    if layer == 0:
        return spoke
    rows = case.entering(layer)
    for b, t in case.at:
        cell = cells.get(f"{'token' if case.mask[b][t] else 'stray'}:{b}:{t}")
        if cell:
            spoke += 1
            halves = rows[case.row[b, t]].view(case.D, -1)
            assert close(cell["vec"], halves[:, : len(cell["vec"]) // case.D])
            assert cell["scale"] == "state"
    assert f"({len(rows)}, {rows.shape[1]})" in cells["title:strip"]["text"]
    return spoke


def gates_of(case: Case) -> str:
    return {"GRU": "rzn", "LSTM": "ifgo"}.get(case.module.mode, "")


def kept(case: Case) -> str:
    return "c" if case.module.mode == "LSTM" else "h"


def state_before(case: Case, b: int, t: int, name: str) -> Tensor:
    """Return h or c of a sequence as it enters a time step."""
    return case.held(b, t + 1 if case.direction else t - 1, name)


def test_the_numbers_are_there_wherever_they_can_be_read() -> None:
    for name in ("one-token", "forum", "unsorted-backward", "words", "own-gru", "own-projection"):
        assert in_numbers(case_of(name).deep), name
    assert not any(in_numbers(case_of(name).deep) for name in ("twenty-four", "forty", "window"))
    cells: tuple[Any, ...] = ("rnn", "gru", "lstm")
    for cell, text in product(cells, ("on your mark\nget set\ngo", "1 2 3 4\n5 6 7\n8 9\n1")):
        movie = pv.movie(pv.trace(Batch.parse(text), Config(cell=cell)), ("run",), deep=True)
        assert f"was:{'c' if cell == 'lstm' else 'h'}:0:3" in movie.ids


@each_packed
def test_gates_and_states_in_numbers_are_torchs(case: Case) -> int:
    spoke, name = 0, kept(case)
    for t, cells in steps(case, case.deep) if in_numbers(case.deep) else ():
        live = case.live(t)
        for panel in (*(f"gate:{gate}" for gate in gates_of(case)), f"was:{name}"):
            assert {b for b in case.filmed if units_of(cells, f"{panel}:{b}") is not None} == set(live)
        for b in live:
            inside, before = row_inside(case, case.row[b, t]), state_before(case, b, t, name)
            assert close(units_of(cells, f"was:{name}:{b}"), before), (b, t)
            for gate in gates_of(case):
                spoke += 1
                assert close(units_of(cells, f"gate:{gate}:{b}"), inside[gate]), (gate, b, t)
        assert cells["title:was"]["text"] == f"{name} before {(len(live), len(before))}"
    return spoke


@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn"])
def test_a_state_is_called_that_after_the_step_only_once_it_is_computed(cell: Any) -> None:
    show = Show(pv.movie(pv.trace(Batch.parse("1 2 3\n4 5"), Config(cell=cell)), ("run",), deep=True))
    states, told = {"title:h": "h:", "title:gate:c": "gate:c:"}, set[str]()
    for i, frames in enumerate(show.frames):
        for n in range(len(frames)):
            cells = show.at(i, n)
            for title, prefix in states.items():
                if title in cells and " after" in cells[title]["text"]:
                    told.add(title)
                    numbers = [name for name in cells if name.startswith(prefix)]
                    assert numbers
                    assert all(cells[name]["v"] == show.after[i][name]["v"] for name in numbers), (i, n, title)
    assert told == ({*states} if cell == "lstm" else {"title:h"})


@each_packed
def test_in_numbers_c_after_a_step_is_torchs_c(case: Case) -> int:
    if kept(case) != "c" or not in_numbers(case.deep):
        assert kept(case) == "c" or not any(name.startswith("gate:c") for name in case.deep.ids)
        return 0
    for (t, cells), b in product(steps(case, case.deep), case.filmed):
        assert close(units_of(cells, f"gate:c:{b}"), case.held(b, t, "c")), (b, t)
    for b in case.filmed:
        assert cells[f"ring:c:{b}"]["shown"]
        assert case.module.proj_size or close(units_of(cells, f"gate:c:{b}"), case.trace.c_n[case.row_of_h][b])
    return 1


def named_weights(case: Case) -> dict[str, Tensor]:
    """Return the weights by the names of PyTorch's documentation: W_ir, b_hn; W_ih and W_hh for an RNN."""
    layer, direction = case.watched
    module, suffix = case.trace.module, f"l{layer}{'_reverse' if direction else ''}"
    names, letters = dict[str, Tensor](), gates_of(case) or "h"
    for (kind, letter), side in product((("weight", "W"), ("bias", "b")), "ih"):
        parameter = getattr(module, f"{kind}_{side}h_{suffix}", None)
        if parameter is not None:
            parts = zip(letters, parameter.chunk(len(letters)), strict=True)
            names |= {f"{letter}_{side}{gate}": part for gate, part in parts}
    if module.proj_size:
        names["W_hr"] = getattr(module, f"weight_hr_{suffix}")
    return names


def as_python(line: str) -> str:
    line = line.replace("⊙", "*").replace("−", "-").replace("σ", "sigmoid").replace("\n", " ")
    line = re.sub(r"\b(W_\w+) ([xh])\b", r"linear(\2, \1)", line)
    return re.sub(r"W_hr (\(o .*\))", r"linear(\1, W_hr)", line)


def cell_of(case: Case) -> dict[str, Any]:
    """Return torch's cell with the weights of the watched layer, under its name in the code; c is kept beside h."""
    module, (layer, direction) = case.module, case.watched
    name, suffix = type(module).__name__.lower(), f"_l{layer}" + ("_reverse" if direction else "")
    if module.proj_size:
        return {name: lambda _, state: state, "c": torch.zeros(case.B, 1)}  # torch has no such cell: shapes only
    kind: Any = {"GRU": nn.GRUCell, "LSTM": nn.LSTMCell}.get(module.mode, nn.RNNCell)
    named = {"nonlinearity": module.nonlinearity} if kind is nn.RNNCell else {}
    named |= {"bias": module.bias, "dtype": module.weight_ih_l0.dtype}
    cell = kind(case.entering(layer).shape[1], module.hidden_size, **named).requires_grad_(False)
    for parameter in ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if module.bias else ())):
        getattr(cell, parameter).data = getattr(module, parameter + suffix).data
    if kind is not nn.LSTMCell:
        return {name: cell}
    memory = case.trace.c_0[case.row_of_h][case.order]

    def step(x: Tensor, state: tuple[Tensor, Any]) -> tuple[Tensor, Tensor]:
        h, memory[: len(x)] = cell(x, (state[0], memory[: len(x)]))
        return h, memory[: len(x)]

    return {name: step, "c": memory.clone()}


@each_run
def test_the_code_of_the_steps_run_as_it_stands_gives_torchs_states(film: CaseMovie) -> None:
    """In the ordinary movie it is torch's own cell, and with all its whys the formulas of the documentation."""
    case, layer = film.case, film.case.watched[0]
    if case.direction and case.T > 60:
        return  # the time steps before the first that is shown are not written down
    names = case.given() | cell_of(case) | named_weights(case) | {"sorted_indices": case.packed.sorted_indices}
    names["data" if layer == 0 else f"output{layer - 1}"] = case.entering(layer)
    for step in (played for played in film.show.movie.steps if played.stage == "run"):
        for line in step.detail:
            if line.text.startswith("#"):
                continue
            exec(as_python(line.text), names)  # the code of our own movie
            name = line.text.split(" =")[0].split(",")[0]
            assert str(tuple(names[name].shape)) == line.shape, line.text
            if step.time is None and "h_0" in line.text:
                torch.testing.assert_close(names[name], case.h_0[case.order])
        if step.time is not None and not (case.module.proj_size and film.kind == "show"):
            rows = [case.row[b, step.time] for b in case.live(step.time)]
            assert torch.allclose(names["h"], case.hidden[rows], rtol=1e-4, atol=1e-5, equal_nan=True), step.time


FUNCTIONS = {"tanh": math.tanh, "relu": lambda a: max(0.0, a), "nan": math.nan}


def said(case: Case, t: int) -> list[list[float]]:
    """Return the numbers of every line with numbers at a time step, its result last.

    It follows from the others where an equals sign stands before it.
    """
    step = case.deep.movie.steps[case.deep.movie.step_at("run", t) - 1]
    head, *lines = step.detail[-1].text.replace("\n    ", " ").split("\n")
    assert head == f"# unit 0 of {sequence_label(case.live(t)[0])}"
    found = []
    for line in lines:
        right, sign, result = match(r"^[hc] = (.+) ([=≈]) (\S+)$", line.replace("−", "-").replace("·", "*")).groups()
        made = eval(right, dict(FUNCTIONS))
        assert sign == "≈" or not math.isfinite(made) or agree(float(result), made), line
        numbers = re.findall(r"-?[\d.]+(?:e[+-]?\d+)?|nan", right.replace("(1 - ", "(").replace(" - ", " + -"))
        found.append([*map(float, numbers), float(result)])
    return found


def truths(case: Case, t: int) -> list[list[float]]:
    """Return torch's own numbers for the same lines, the result last."""
    layer, b = case.watched[0], case.live(t)[0]
    n = case.row[b, t]
    h, before = case.hidden[n][0].item(), state_before(case, b, t, "h")
    if gates_of(case) == "":
        weights = named_weights(case)
        given = F.linear(case.entering(layer)[n], weights["W_ih"], weights.get("b_ih"))[0].item()
        return [[given, F.linear(before, weights["W_hh"], weights.get("b_hh"))[0].item(), h]]
    inside = {name: row[0].item() for name, row in row_inside(case, n).items()}
    if "r" in inside:
        return [[inside["z"], inside["n"], inside["z"], before[0].item(), h]]
    i, f, g, o, c = (inside[name] for name in "ifgoc")
    lines = [[f, state_before(case, b, t, "c")[0].item(), i, g, c], [o, c, h]]
    return lines[: 1 if case.module.proj_size else None]


def agree(written: float, true: float) -> bool:
    """Return whether a number written with two decimals, or three digits of a huge one, is the true one."""
    if math.isnan(written):
        return not math.isfinite(true)
    return abs(written - true) <= max(0.00507, 0.006 * abs(true) if abs(true) > 9999 else 0.0)


@each_packed
def test_the_numbers_of_one_unit_are_torchs(case: Case) -> None:
    for t, _ in steps(case, case.deep):
        for numbers, truth in zip(said(case, t), truths(case, t), strict=True):
            assert len(numbers) == len(truth)
            assert all(map(agree, numbers, truth)), (t, numbers, truth)


def test_the_last_caption_names_the_row_of_h_n_that_is_watched() -> None:
    trace = pv.trace(Batch.parse("1 2\n3"), Config(num_layers=2, bidirectional=True))
    for row, (layer, direction) in enumerate(product((0, 1), (0, 1))):
        movie = pv.movie(trace, "run", layer=layer, direction=direction)
        name = f"h_n[{row - 4 if layer == 1 else row}]"  # those of the top layer as in most code: from the end
        assert f" {name}" in movie.steps[-1].caption, movie.steps[-1].caption


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize(
    ("layers", "both", "order"),
    [
        (2, False, "h_0 and h_n are ordered by layer"),
        (1, True, "forward comes first in h_0 and h_n"),
        (2, True, "h_0 and h_n are ordered by layer, forward first"),
    ],
)
def test_the_first_caption_says_how_the_rows_of_h_n_are_numbered(
    cell: Any, layers: int, both: bool, order: str
) -> None:
    trace = pv.trace(Batch.parse("1 2\n3"), Config(cell=cell, num_layers=layers, bidirectional=both))
    for row, (layer, direction) in enumerate(product(range(layers), range(1 + both))):
        movie = pv.movie(trace, "run", layer=layer, direction=direction)
        assert re.search(rf"h_0\[{row}\]\*\*.* all zeros; {order}\.$", movie.steps[0].caption)
        assert torch.equal(trace.h_n[row], torch.stack([trace.layers[layer][direction].h[n] for n in last(direction)]))


def last(direction: int) -> list[int]:
    """Return the packed rows at which a direction has seen all of the two sequences, 1 2 and 3."""
    return [0, 1] if direction else [2, 1]


def test_the_numbers_of_gates_and_c_are_in_their_tooltips() -> None:
    data = pv.movie(pv.trace(Batch.example("sentences"), Config(cell="lstm")), "run").to_dict()
    told = [line for tip in data["tips"] for lines in tip for line in lines]
    assert [line for line in told if "{vec}" in line and ":" in line] == [f"{name}: {{vec}}" for name in "ifgoc"]


@pytest.mark.parametrize(("cell", "held"), [("rnn", {"h"}), ("gru", {"h"}), ("lstm", {"h", "gate:c"})])
def test_before_the_first_step_there_are_only_the_rows_and_the_states(cell: Any, held: set[str]) -> None:
    movie = pv.movie(pv.trace(Batch.example("sentences"), Config(cell=cell)), ("run",), deep=True)
    scene = movie.scenes[movie.frame(1)["scene"]]
    assert [set(box.panels) for box in (*scene.wide, *scene.tall)] == [{"strip", "names:2", *held}]
    assert movie.frame(2)["scene"] == "run"


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize(
    ("cell", "named"),
    [
        ("gru", "The gates r (reset), z (update) and n (new) decide how h changes"),
        ("lstm", "The gates are i (input), f (forget), g (cell) and o (output)"),
    ],
)
def test_the_gates_have_torchs_names_where_their_letters_first_appear(cell: Any, named: str, deep: bool) -> None:
    movie = pv.movie(pv.trace(Batch.example("sentences"), Config(cell=cell)), ("run",), deep=deep)
    told = [f"{named}." in step.caption for step in movie.steps]
    assert told == [False, True, *(len(told) - 2) * [False]]
    for letter in re.findall(r"\b(\w) \(", named):
        assert deep or [f"axis:gate:{letter}" in movie.frame(n)["marks"] for n in (1, 2)] == [False, True]
        assert named.split(f"{letter} (")[1].split(")")[0] in str(getattr(torch.nn, cell.upper()).__doc__)
