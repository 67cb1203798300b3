"""One hidden unit at one packed row, term by term: every product that its gates add up, and its new state."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.modules import read_weights
from packviz.record import Trace
from packviz.stages.recurrence import Direction
from packviz.studies.gates import GateSum, Largest, Site, Term, as_factor, gate_sum, written
from packviz.visible import shown

__all__ = ["Formula", "GateSum", "Largest", "Term", "UnitSum", "unit_sum"]


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
    _check("layer", layer, len(trace.layers), "a layer")
    _check("direction", direction, len(trace.layers[layer]), "a direction")
    _check("n", n, len(trace.output), "a packed row")
    _check("unit", unit, trace.module.hidden_size, "a hidden unit")
    _refuse_projection(trace)
    ran = trace.layers[layer][direction]
    h, c = _before(ran, n)
    weights = read_weights(trace.module)[layer][direction]
    site = Site(
        trace.module.mode,
        unit,
        f"l{layer}{'_reverse' if direction else ''}",
        _input(trace, layer)[n],
        h,
        weights,
        {name: float(values[n, unit]) for name, values in (ran.gates or {"h": ran.h}).items()},
    )
    with torch.no_grad():
        gates = tuple(gate_sum(site, g, name) for g, name in enumerate(site.values))
    states = float(h[unit]), None if c is None else float(c[unit])
    after = float(ran.h[n, unit]), None if ran.c is None else float(ran.c[n, unit])
    b, t = int(trace.packed.sequence[n]), int(trace.packed.timestep[n])
    return UnitSum(layer, direction, n, unit, b, t, gates, *states, _formulas(gates, *states, *after))


def _input(trace: Trace, layer: int) -> Tensor:
    """Return what enters a layer, in packed order: data (N, F), or the states (N, D*H) of the layer below."""
    return torch.cat([below.h for below in trace.layers[layer - 1]], 1) if layer else trace.packed.data


def _before(ran: Direction, n: int) -> tuple[Tensor, Tensor | None]:
    """Return the states (H,) that enter the step of packed row n."""
    t = bisect_right(ran.offsets, n) - 1
    h, c = ran.before(ran.steps - 1 - t if ran.backward else t)
    place = n - ran.offsets[t]
    return h[place], None if c is None else c[place]


def _formulas(
    gates: tuple[GateSum, ...], h: float, c: float | None, h_after: float, c_after: float | None
) -> tuple[Formula, ...]:
    """Return the lines that make the new state; of the RNN it is the one gate itself."""
    value = {gate.name: written(gate.value) for gate in gates}
    factor = {gate.name: as_factor(gate.value) for gate in gates}
    if c is None or c_after is None:
        if "z" not in value:
            return (Formula(gates[0].symbols, gates[0].numbers, h_after),)
        numbers = f"(1 - {value['z']}) · {factor['n']} + {value['z']} · {as_factor(h)} = {written(h_after)}"
        return (Formula("h' = (1 - z) · n + z · h", f"h' = {numbers}", h_after),)
    kept, added = f"{value['f']} · {as_factor(c)}", f"{value['i']} · {factor['g']}"
    return (
        Formula("c' = f · c + i · g", f"c' = {kept} + {added} = {written(c_after)}", c_after),
        Formula("h' = o · tanh(c')", f"h' = {value['o']} · tanh({written(c_after)}) = {written(h_after)}", h_after),
    )


def _check(parameter: str, value: object, count: int, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        expected = f"{what} from 0 to {count - 1}"
        raise PackvizError(parameter, expected=expected, came=shown(value), mend="choose one of these")


def _refuse_projection(trace: Trace) -> None:
    if trace.module.proj_size:
        raise PackvizError(
            "trace",
            expected="a module without a projection",
            came=f"an LSTM with proj_size={trace.module.proj_size}, whose h' mixes all hidden units",
            mend="trace the same LSTM with proj_size=0",
        )
