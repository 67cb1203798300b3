"""One hidden unit at one packed row: its gates and its new state, formula by formula, in numbers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from packviz.compute.record import Trace, watched_layer
from packviz.compute.recurrence import output_of
from packviz.errors import PackvizError
from packviz.inputs.cell_kinds import CellKind, cell_kind_of
from packviz.inputs.module import nonlinearity_of
from packviz.text import Brief
from packviz.validate import integer

__all__ = ["GateSum", "UnitSum", "WrittenFormula", "rounded", "unit_sum"]

_LETTER = re.compile(r"(· )?\b([a-z]'?)(?![a-z'])")  # of a formula, and the sign before it, if any


class WrittenFormula(NamedTuple):
    """One formula: in the letters of PyTorch's documentation, with rounded numbers, and the recorded value."""

    symbols: str
    numbers: str
    value: float


@dataclass(frozen=True, repr=False)
class GateSum(Brief):
    """One gate of one unit."""

    name: str  # r, z, n for the GRU, i, f, g, o for the LSTM, h for the RNN, whose gate is its new state
    input_sum: float  # W x + b of the input, as torch's linear computes it
    hidden_sum: float  # W h + b of the state before, likewise
    formula: WrittenFormula  # the gate after its activation


@dataclass(frozen=True, repr=False)
class UnitSum(Brief):
    """How one unit's state was computed at one packed row."""

    layer: int  # from 0
    direction: int  # 0 forward, 1 backward
    n: int  # the packed row
    unit: int
    sequence: int  # where the packed row came from
    timestep: int
    gates: tuple[GateSum, ...]  # in torch's order
    before: Mapping[str, float]  # the unit's h, and the LSTM's c, as it enters the step: h_0 at a sequence's first step
    formulas: tuple[WrittenFormula, ...]  # how the new state is made; the last one's value is h'


def unit_sum(trace: Trace, n: int, unit: int, *, layer: int | None = None, direction: int = 0) -> UnitSum:
    """Break down how one hidden unit's state at packed row n was computed.

    n          0 to N - 1
    unit       0 to H - 1
    layer      0 to L - 1; None: the top one. x is its input: data for layer 0, else the states of the layer below
    direction  0 forward, 1 backward, if there are two

    Raises PackvizError for a number out of range, and for an LSTM with a projection, whose h' mixes all units.
    """
    module, fix = trace.module, "choose one of these"
    layer, direction = watched_layer(trace, layer, direction)
    n = integer("n", n, 0, len(trace.output) - 1, what="a packed row", fix=fix)
    unit = integer("unit", unit, 0, module.hidden_size - 1, what="a hidden unit", fix=fix)
    if module.proj_size:
        got = f"an LSTM with proj_size={module.proj_size}, whose h' mixes all hidden units"
        fix = "trace the same LSTM with proj_size=0"
        raise PackvizError("trace", expected="a module without a projection", got=got, fix=fix)
    ran, kind = trace.layers[layer][direction], cell_kind_of(module)
    b, t = int(trace.packed.sequence[n]), int(trace.packed.timestep[n])
    below = output_of(trace.layers[layer - 1]) if layer else trace.packed.data
    place, entered = n - int(ran.packed.offsets[t]), ran.before(ran.steps - 1 - t if ran.backward else t)
    entering = {name: state[place] for name, state in zip("hc", entered, strict=True) if state is not None}
    before = {name: float(state[unit]) for name, state in entering.items()}
    values = {name: float(rows[n, unit]) for name, rows in (ran.gates or {"h": ran.h}).items()}
    suffix = f"l{layer}{'_reverse' if direction else ''}"
    gates = tuple(_gate_sum(module, suffix, unit, below[n], entering["h"], name, values) for name in values)
    after = {f"{name}'": float(ran.rows[name][n, unit]) for name in before}
    formulas = tuple(_formulas(kind, values | before | after)) or (gates[0].formula,)
    return UnitSum(layer, direction, n, unit, b, t, gates, before, formulas)


def _formulas(kind: CellKind, known: dict[str, float]) -> list[WrittenFormula]:
    """Return the lines that compute the new state; known: the gates and states of the unit by letter."""

    def number(match: re.Match[str]) -> str:
        sign, name = match.groups("")
        return sign + (_as_factor if sign else rounded)(known[name])

    return [
        WrittenFormula(
            f"{left} = {right}", f"{left} = {_LETTER.sub(number, right)} = {rounded(known[left])}", known[left]
        )
        for left, right, _ in kind.formulas
    ]


def _gate_sum(
    module: nn.RNNBase, suffix: str, unit: int, x: Tensor, h: Tensor, name: str, values: dict[str, float]
) -> GateSum:
    """Break down a gate of a unit, a row of W x + b and one of W h + b; values: of all its gates, in torch's order."""
    row, gate = [*values].index(name) * module.hidden_size + unit, cell_kind_of(module).gates.get(name)
    weighing = gate.weighed_by if gate else ""
    factor = values[weighing] if weighing else 1.0
    sums, symbols = [], []
    for side, letter, v in (("i", "x", x), ("h", "h", h)):
        weights = getattr(module, f"weight_{side}h_{suffix}").detach()[row]
        bias = getattr(module, f"bias_{side}h_{suffix}").detach()[row] if module.bias else None
        sums.append(float(F.linear(v, weights[None], None if bias is None else bias[None])))
        symbols.append(f"W_{side}{name} {letter}" + (f" + b_{side}{name}" if module.bias else ""))
    fed, held = sums
    left, function = (name, gate.function) if gate else ("h'", nonlinearity_of(module).replace("relu", "ReLU"))
    added = f"{rounded(fed)} + {f'{rounded(factor)} · ' if weighing else ''}{_as_factor(held)}"
    summed = f"{symbols[0]} + {f'{weighing} · ({symbols[1]})' if weighing else symbols[1]}"
    worked = f"{left} = {function}({added}) = {rounded(values[name])}"
    formula = WrittenFormula(f"{left} = {function}({summed})", worked, values[name])
    return GateSum(name, fed, held, formula)


def rounded(value: float) -> str:
    """Return a number with four decimals, or with four significant digits if decimals would hide it."""
    return f"{value:z.4f}" if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.4g}"


def _as_factor(value: float) -> str:
    """Return a number as a factor or a summand: in parentheses if negative."""
    text = rounded(value)
    return f"({text})" if text.startswith("-") else text
