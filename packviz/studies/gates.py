"""One gate of one hidden unit, term by term: every product that it adds up before its function."""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from packviz.stages.recurrence import Weights

__all__ = ["GateSum", "Largest", "Site", "Term", "as_factor", "gate_sum", "written"]


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


@dataclass(frozen=True, eq=False)
class Site:
    """Hold what one unit's gates are made of: x (F,), h (P,), the weights, and the gates' recorded values."""

    mode: str
    unit: int
    suffix: str
    x: Tensor
    h: Tensor
    weights: Weights
    values: dict[str, float]


def gate_sum(site: Site, g: int, name: str) -> GateSum:
    """Take apart the g-th gate of a unit, in torch's order."""
    reset = name == "n"  # only the GRU has a gate n, and only there r weighs the hidden part
    weights, factor = site.weights, site.values["r"] if reset else 1.0
    row = g * (len(weights.w_ih) // len(site.values)) + site.unit
    given, fed = _part(site, f"i{name}", row, site.x, weights.w_ih, weights.b_ih)
    kept, held = _part(site, f"h{name}", row, site.h, weights.w_hh, weights.b_hh, factor)
    total = float(fed + held * factor)
    left, function = _function(site.mode, name)
    bias = [f" + b_{side}{name}" if weights.b_ih is not None else "" for side in "ih"]
    hidden = f"W_h{name} h{bias[1]}"
    summed = f"W_i{name} x{bias[0]} + " + (f"r · ({hidden})" if reset else hidden)
    added = f"{written(float(fed))} + " + (f"{written(factor)} · " if reset else "") + as_factor(float(held))
    value = site.values[name]
    return GateSum(
        name,
        (*given, *kept),
        *(float(fed), float(held), factor, total, value),
        symbols=f"{left} = {function}({summed})",
        numbers=f"{left} = {function}({added}) = {written(value)}",
    )


def _part(
    site: Site, named: str, row: int, v: Tensor, w: Tensor, b: Tensor | None, factor: float = 1.0
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


def _function(mode: str, gate: str) -> tuple[str, str]:
    """Return what stands left of the gate's formula, and the name of its function."""
    if gate == "h":
        return "h'", "ReLU" if mode == "RNN_RELU" else "tanh"
    return gate, "tanh" if gate in "ng" else "σ"


def written(value: float) -> str:
    """Return a number with four decimals, or with four digits where those would hide it."""
    return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.4g}"


def as_factor(value: float) -> str:
    """Return a number as it stands behind a sign: in parentheses if it is negative."""
    text = written(value)
    return f"({text})" if text.startswith("-") else text
