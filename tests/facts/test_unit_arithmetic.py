"""Every gate of every unit, taken apart: torch's linear, torch's functions and the recorded run are the judges."""

import math
import random

import pytest
import torch
import torch.nn.functional as F
from facts_cases import made
from seeds import seeds
from torch import Tensor
from trace_cases import random_case

from packviz import Trace, trace_module
from packviz.facts import UnitSum, unit_sum
from packviz.facts.unit_arithmetic import rounded

SEEDS = [seed for seed in seeds(24) if not random_case(seed).module.proj_size]
LETTERS = {"RNN_TANH": "h", "RNN_RELU": "h", "GRU": "rzn", "LSTM": "ifgo"}
Taken = tuple[Trace, list[UnitSum]]


@pytest.fixture(scope="module", params=SEEDS)
def taken(request: pytest.FixtureRequest) -> Taken:
    """Return a random trace, and three units of each layer and direction."""
    case, draw = random_case(request.param), random.Random(request.param)
    t = trace_module(case.module, case.x, case.lengths, enforce_sorted=case.enforce_sorted, hx=case.hx)
    places = [(layer, d) for layer, ways in enumerate(t.layers) for d in range(len(ways)) for _ in range(3)]
    rows = [(draw.randrange(len(t.output)), draw.randrange(t.module.hidden_size)) for _ in places]
    return t, [unit_sum(t, *row, layer=layer, direction=d) for row, (layer, d) in zip(rows, places, strict=True)]


def close(ours: float, theirs: Tensor | float, scale: float, dtype: torch.dtype) -> bool:
    """Compare within float rounding; scale is the size of what was added up."""
    theirs = theirs.detach() if isinstance(theirs, Tensor) else theirs
    return abs(ours - float(theirs)) <= (1e-5 if dtype == torch.float32 else 1e-12) * max(1.0, scale)


def entering(t: Trace, s: UnitSum) -> tuple[Tensor, Tensor, Tensor | None]:
    """Find x, h and c of a row by its sequence and time step alone, as a reader of the grid would."""
    sequence, timestep = t.packed.sequence.tolist(), t.packed.timestep.tolist()
    places = {place: n for n, place in enumerate(zip(sequence, timestep, strict=True))}
    below = t.packed.data if s.layer == 0 else torch.cat([way.h for way in t.layers[s.layer - 1]], 1)
    before = places.get((s.sequence, s.timestep + (1 if s.direction else -1)))
    way, slot = t.layers[s.layer][s.direction], s.layer * len(t.layers[0]) + s.direction
    h = t.h_0[slot, s.sequence] if before is None else way.h[before]
    if way.c is None or t.c_0 is None:
        return below[s.n], h, None
    return below[s.n], h, t.c_0[slot, s.sequence] if before is None else way.c[before]


def test_the_two_sums_of_a_gate_are_torchs_linear(taken: Taken) -> None:
    t, sums = taken
    dtype, parameters = t.output.dtype, {name: weights.detach() for name, weights in t.module.named_parameters()}
    for s in sums:
        suffix = f"l{s.layer}{'_reverse' if s.direction else ''}"
        x, h, c = entering(t, s)
        assert s.before == {"h": float(h[s.unit])} | ({} if c is None else {"c": float(c[s.unit])})
        given, kept = (
            F.linear(v, parameters[f"weight_{side}_{suffix}"], parameters.get(f"bias_{side}_{suffix}"))
            for v, side in ((x, "ih"), (h, "hh"))
        )
        for g, gate in enumerate(s.gates):
            row = g * t.module.hidden_size + s.unit
            scale = float(x.abs().sum() + h.abs().sum()) + 2.0
            assert close(gate.input_sum, given[row], scale, dtype)
            assert close(gate.hidden_sum, kept[row], scale, dtype)


def worked_out(numbers: str) -> tuple[float, float]:
    """Compute the middle of "a = b = c" with Python's own arithmetic, and return it beside c."""
    _, middle, last = numbers.split(" = ")
    names = {"tanh": math.tanh, "σ": lambda v: 1 / (1 + math.exp(-v)), "ReLU": lambda v: max(v, 0.0)}
    return eval(middle.replace("·", "*"), {"__builtins__": {}}, names), float(last)


def test_gates_and_formulas_have_the_recorded_values_and_print_a_true_sum(taken: Taken) -> None:
    t, sums = taken
    mode, dtype = t.module.mode, t.output.dtype
    functions = {"n": torch.tanh, "g": torch.tanh, "h": F.relu if mode == "RNN_RELU" else torch.tanh}
    for s in sums:
        assert "".join(gate.name for gate in s.gates) == LETTERS[mode]
        way = t.layers[s.layer][s.direction]
        for gate in s.gates:
            assert gate.formula.value == float(way.gates.get(gate.name, way.h)[s.n, s.unit])
            r = s.gates[0].formula.value if gate.name == "n" else 1.0
            total = torch.tensor(gate.input_sum + r * gate.hidden_sum, dtype=dtype)
            value = functions.get(gate.name, torch.sigmoid)(total)
            assert close(gate.formula.value, value, abs(gate.input_sum) + abs(gate.hidden_sum), dtype)
        known = {gate.name: gate.formula.value for gate in s.gates} | dict(s.before)
        assert [formula.value for formula in s.formulas] == [
            float(rows[s.n, s.unit]) for rows in (way.c, way.h) if rows is not None
        ]
        for formula in s.formulas if mode in ("GRU", "LSTM") else ():
            new, right = formula.symbols.replace("·", "*").replace("'", "_new").split(" = ")
            assert close(formula.value, eval(right, {"tanh": math.tanh}, dict(known)), 1.0, dtype)
            known[new] = formula.value
        for formula in (*(gate.formula for gate in s.gates), *s.formulas):
            ours, last = worked_out(formula.numbers)
            assert ours == pytest.approx(last, rel=2e-3, abs=5e-4), formula


def test_the_formulas_are_those_of_pytorchs_documentation() -> None:
    def symbols(**settings: object) -> list[str]:
        s = unit_sum(made("1 2\n3", **settings), 0, 0)
        return [formula.symbols for formula in (*(gate.formula for gate in s.gates), *s.formulas)]

    assert symbols(cell="gru") == [
        "r = σ(W_ir x + b_ir + W_hr h + b_hr)",
        "z = σ(W_iz x + b_iz + W_hz h + b_hz)",
        "n = tanh(W_in x + b_in + r · (W_hn h + b_hn))",
        "h' = (1 - z) · n + z · h",
    ]
    assert symbols(cell="lstm") == [
        "i = σ(W_ii x + b_ii + W_hi h + b_hi)",
        "f = σ(W_if x + b_if + W_hf h + b_hf)",
        "g = tanh(W_ig x + b_ig + W_hg h + b_hg)",
        "o = σ(W_io x + b_io + W_ho h + b_ho)",
        "c' = f · c + i · g",
        "h' = o · tanh(c')",
    ]
    assert symbols(cell="rnn") == ["h' = tanh(W_ih x + b_ih + W_hh h + b_hh)"] * 2
    assert symbols(cell="rnn", nonlinearity="relu", bias=False)[0] == "h' = ReLU(W_ih x + W_hh h)"
    assert symbols(cell="gru", bias=False)[2] == "n = tanh(W_in x + r · (W_hn h))"


def test_a_zero_has_no_sign() -> None:
    assert rounded(-0.0) == rounded(0.0) == "0.0000"
