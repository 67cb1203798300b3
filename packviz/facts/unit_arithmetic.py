"""One hidden unit at one packed row, term by term: every product that its gates add up, and its new state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from packviz.compute.record import Trace
from packviz.compute.recurrence import Direction
from packviz.errors import PackvizError
from packviz.inputs.cell_kinds import CellKind, kind_of
from packviz.inputs.module import Weights, read_weights
from packviz.validate import integer

__all__ = ["Formula", "GateSum", "Largest", "Term", "UnitSum", "rounded", "unit_sum"]

_State = dict[str, float]  # by letter
_LETTER = re.compile(r"(· )?\b([a-z]'?)(?![a-z'])")  # of a formula, and whether it stands behind a sign


@dataclass(frozen=True)
class Term:
    """Hold one term of a gate's sum.

    name       "W_ir[2,0] · x[0]", or "b_ir[2]"; the letters of PyTorch's documentation
    parameter  the same weight in the module: "weight_ih_l0[2, 0]"
    weight     the weight, or the bias
    value      what it is multiplied with; 1 for a bias
    product    weight · value, in the module's own precision
    factor     what the gate multiplies the product with: r in the hidden part of the GRU's n, else 1
    """

    name: str
    parameter: str
    weight: float
    value: float
    product: float
    factor: float = 1.0

    @property
    def part(self) -> float:
        """Return what the term adds to the gate's sum."""
        return self.factor * self.product


@dataclass(frozen=True)
class Largest:
    """Hold the terms that move a sum most, and what all others add to it.

    terms  the largest first, by the size of their part
    count  how many others there are
    rest   the sum of their parts
    """

    terms: tuple[Term, ...]
    count: int
    rest: float


@dataclass(frozen=True)
class GateSum:
    """Hold one gate of one unit.

    name         r, z, n for the GRU, i, f, g, o for the LSTM, h for the RNN, whose gate is its new state
    terms        every term: the input's F products and its bias, then the state's products and its bias
    input_sum    W x + b of the input, as torch's linear computes it
    hidden_sum   W h + b of the state before, likewise
    factor       what multiplies hidden_sum: r for the GRU's n, else 1
    total        input_sum + factor · hidden_sum: what enters the gate's function
    value        the gate after its function, as the trace recorded it
    symbols      the formula in the letters of PyTorch's documentation
    numbers      the same with this step's numbers, rounded to four decimals
    """

    name: str
    terms: tuple[Term, ...]
    input_sum: float
    hidden_sum: float
    factor: float
    total: float
    value: float
    symbols: str
    numbers: str

    def largest(self, k: int) -> Largest:
        """Return the k terms with the largest parts, and the sum of all the others."""
        ordered = sorted(self.terms, key=lambda term: -abs(term.part))
        others = ordered[max(k, 0) :]
        return Largest(tuple(ordered[: max(k, 0)]), len(others), sum(term.part for term in others))


@dataclass(frozen=True)
class Formula:
    """Hold one line that makes the new state: in symbols, with rounded numbers, and the value the trace recorded."""

    symbols: str
    numbers: str
    value: float


@dataclass(frozen=True)
class UnitSum:
    """Hold how one unit's state came about at one packed row.

    layer, direction, n, unit   which layer (from 0), direction (0 forward, 1 backward), packed row and hidden unit
    sequence, timestep          where the packed row came from
    gates                       in torch's order
    h_before, c_before          the unit's state as it enters the step: h_0 where the sequence takes its first step
    formulas                    how the new state is made; the last one's value is h'
    """

    layer: int
    direction: int
    n: int
    unit: int
    sequence: int
    timestep: int
    gates: tuple[GateSum, ...]
    h_before: float
    c_before: float | None
    formulas: tuple[Formula, ...]

    @property
    def h_after(self) -> float:
        """Return h', the unit's state after the step."""
        return self.formulas[-1].value


def unit_sum(trace: Trace, n: int, unit: int, *, layer: int | None = None, direction: int = 0) -> UnitSum:
    """Take apart how one hidden unit got its state at packed row n.

    n          0 to N - 1
    unit       0 to H - 1
    layer      0 to L - 1; None: the top one. x is its input: data for layer 0, else the states of the layer below
    direction  0 forward, 1 backward, where there are two

    Raises PackvizError for a number out of its range, and for an LSTM with a projection: there h' mixes all units.
    """
    layer = len(trace.layers) - 1 if layer is None else layer
    integer("layer", layer, 0, len(trace.layers) - 1, what="a layer", mend="choose one of these")
    integer("direction", direction, 0, len(trace.layers[layer]) - 1, what="a direction", mend="choose one of these")
    integer("n", n, 0, len(trace.output) - 1, what="a packed row", mend="choose one of these")
    integer("unit", unit, 0, trace.module.hidden_size - 1, what="a hidden unit", mend="choose one of these")
    _refuse_projection(trace)
    ran = trace.layers[layer][direction]
    h, c = _before(ran, n)
    kind, weights = kind_of(trace.module), read_weights(trace.module)[layer][direction]
    site = _Site(
        kind.gates,
        "ReLU" if trace.module.mode == "RNN_RELU" else "tanh",
        unit,
        f"l{layer}{'_reverse' if direction else ''}",
        _input(trace, layer)[n],
        h,
        weights,
        {name: float(values[n, unit]) for name, values in (ran.gates or {"h": ran.h}).items()},
    )
    with torch.no_grad():
        gates = tuple(_gate_sum(site, g, name) for g, name in enumerate(site.values))
    before = {"h": float(h[unit])} | ({} if c is None else {"c": float(c[unit])})
    after = {name: float(ran.rows[name][n, unit]) for name in before}
    b, t = int(trace.packed.sequence[n]), int(trace.packed.timestep[n])
    return UnitSum(
        layer, direction, n, unit, b, t, gates, before["h"], before.get("c"), _formulas(kind, gates, before, after)
    )


def _input(trace: Trace, layer: int) -> Tensor:
    """Return what enters a layer, in packed order: data (N, F), or the states (N, D*H) of the layer below."""
    return torch.cat([below.h for below in trace.layers[layer - 1]], 1) if layer else trace.packed.data


def _before(ran: Direction, n: int) -> tuple[Tensor, Tensor | None]:
    """Return the states (H,) that enter the step of packed row n."""
    t = int(ran.packed.timestep[n])
    h, c = ran.before(ran.steps - 1 - t if ran.backward else t)
    place = n - int(ran.packed.offsets[t])
    return h[place], None if c is None else c[place]


def _formulas(kind: CellKind, gates: tuple[GateSum, ...], before: _State, after: _State) -> tuple[Formula, ...]:
    """Return the lines that make the new state; of the RNN it is the one gate itself."""
    if not kind.formulas:
        return (Formula(gates[0].symbols, gates[0].numbers, after["h"]),)
    known = {gate.name: gate.value for gate in gates} | before | {f"{name}'": value for name, value in after.items()}

    def number(match: re.Match[str]) -> str:
        sign, name = match.groups("")
        return sign + (_as_factor if sign else rounded)(known[name])

    return tuple(
        Formula(f"{left} = {right}", f"{left} = {_LETTER.sub(number, right)} = {rounded(known[left])}", known[left])
        for left, right in kind.formulas
    )


def _refuse_projection(trace: Trace) -> None:
    if trace.module.proj_size:
        raise PackvizError(
            "trace",
            expected="a module without a projection",
            came=f"an LSTM with proj_size={trace.module.proj_size}, whose h' mixes all hidden units",
            mend="trace the same LSTM with proj_size=0",
        )


@dataclass(frozen=True, eq=False)
class _Site:
    """Hold what one unit's gates are made of: x (F,), h (P,), the weights, and the gates' recorded values.

    functions   by gate; of_the_rnn, which has none, in place of them
    """

    functions: Mapping[str, str]
    of_the_rnn: str
    unit: int
    suffix: str
    x: Tensor
    h: Tensor
    weights: Weights
    values: dict[str, float]


def _gate_sum(site: _Site, g: int, name: str) -> GateSum:
    """Take apart the g-th gate of a unit, in torch's order."""
    reset = name == "n"  # only the GRU has a gate n, and only there r weighs the hidden part
    weights, factor = site.weights, site.values["r"] if reset else 1.0
    row = g * (len(weights.w_ih) // len(site.values)) + site.unit
    given, fed = _part(site, f"i{name}", row, site.x, weights.w_ih, weights.b_ih)
    kept, held = _part(site, f"h{name}", row, site.h, weights.w_hh, weights.b_hh, factor)
    total = float(fed + held * factor)
    left, function = (name, site.functions[name]) if name in site.functions else ("h'", site.of_the_rnn)
    bias = [f" + b_{side}{name}" if weights.b_ih is not None else "" for side in "ih"]
    hidden = f"W_h{name} h{bias[1]}"
    summed = f"W_i{name} x{bias[0]} + " + (f"r · ({hidden})" if reset else hidden)
    added = f"{rounded(float(fed))} + " + (f"{rounded(factor)} · " if reset else "") + _as_factor(float(held))
    value = site.values[name]
    return GateSum(
        name,
        (*given, *kept),
        *(float(fed), float(held), factor, total, value),
        symbols=f"{left} = {function}({summed})",
        numbers=f"{left} = {function}({added}) = {rounded(value)}",
    )


def _part(
    site: _Site, named: str, row: int, v: Tensor, w: Tensor, b: Tensor | None, factor: float = 1.0
) -> tuple[list[Term], Tensor]:
    """Return the terms of one row of W v + b, and their sum () as torch's linear computes it."""
    letter, parameter = "x" if named[0] == "i" else "h", f"{named[0]}h_{site.suffix}"
    row_of_w, row_of_b = w.detach()[row : row + 1], None if b is None else b.detach()[row : row + 1]
    columns = zip(row_of_w[0].tolist(), v.tolist(), (row_of_w[0] * v).tolist(), strict=True)
    terms = [
        Term(f"W_{named}[{site.unit},{j}] · {letter}[{j}]", f"weight_{parameter}[{row}, {j}]", *numbers, factor)
        for j, numbers in enumerate(columns)
    ]
    if row_of_b is not None:
        bias = float(row_of_b)
        terms.append(Term(f"b_{named}[{site.unit}]", f"bias_{parameter}[{row}]", bias, 1.0, bias, factor))
    return terms, F.linear(v, row_of_w, row_of_b).squeeze(0)


def rounded(value: float) -> str:
    """Return a number with four decimals, or with four digits where those would hide it."""
    return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.4g}"


def _as_factor(value: float) -> str:
    """Return a number as it stands behind a sign: in parentheses if it is negative."""
    text = rounded(value)
    return f"({text})" if text.startswith("-") else text
