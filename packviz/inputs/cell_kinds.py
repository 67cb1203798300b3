"""The cell kinds: what torch calls them, their gates and states, and the formulas of their new state."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from torch import nn

Cell = Literal["rnn", "gru", "lstm"]


class Gate(NamedTuple):
    """Hold what a gate is called, the function of its sum, and the letter of the gate that weighs its hidden part."""

    name: str
    function: str
    weighed_by: str = ""


class Formula(NamedTuple):
    """Hold a formula of the new state: what stands left and right of the equals sign, and the right side as code."""

    left: str
    right: str
    calculate: Callable[..., float]  # its arguments in the order in which their letters first stand on the right


@dataclass(frozen=True)
class CellKind:
    """Hold what tells one kind of cell from the others; its step stands in compute/cells.py."""

    module: type[nn.RNN] | type[nn.GRU] | type[nn.LSTM]  # torch's class
    gates: Mapping[str, Gate]  # by letter, in torch's order; of the RNN, whose one gate is its new state, none
    states: tuple[str, ...]  # the letters of the states that it carries from step to step
    own: tuple[str, ...]  # the settings that only this class takes
    formulas: tuple[Formula, ...]  # how the new state is made of the gates, h' last

    @property
    def G(self) -> int:
        """Return the number of rows of weights that each hidden unit has."""
        return max(1, len(self.gates))

    def weights(self, features: int, hidden_size: int, num_layers: int, directions: int) -> int:
        """Return how many numbers all weight matrices have: G·H rows of F + H, in the layers above of D·H + H."""
        H, D = hidden_size, directions
        return self.G * H * D * (features + H + (num_layers - 1) * (D * H + H))

    @property
    def modes(self) -> tuple[str, ...]:
        """Return what torch calls modules of this kind in their attribute `mode`."""
        name = self.module.__name__
        return (f"{name}_TANH", f"{name}_RELU") if "nonlinearity" in self.own else (name,)

    def named(self, when: str) -> tuple[str, ...]:
        """Return the names of the states: ("h_0", "c_0") for "0"."""
        return tuple(f"{letter}_{when}" for letter in self.states)

    def in_code(self, when: str) -> str:
        """Return the states as the module takes and returns them: "h_0", for the LSTM "(h_0, c_0)"."""
        names = self.named(when)
        return names[0] if len(names) == 1 else f"({', '.join(names)})"

    def build(self, features: int, hidden_size: int, num_layers: int = 1, **settings: Any) -> nn.RNN | nn.GRU | nn.LSTM:
        """Return a bare module of torch's class, without the settings that only other kinds take."""
        foreign = {name for kind in CELL_KINDS.values() for name in kind.own} - {*self.own}
        taken = {name: value for name, value in settings.items() if name not in foreign}
        return self.module(features, hidden_size, num_layers, **taken)


CELL_KINDS: Mapping[Cell, CellKind] = {
    "rnn": CellKind(nn.RNN, {}, ("h",), ("nonlinearity",), ()),
    "gru": CellKind(
        nn.GRU,
        {"r": Gate("reset", "σ"), "z": Gate("update", "σ"), "n": Gate("new", "tanh", weighed_by="r")},
        ("h",),
        (),
        (Formula("h'", "(1 - z) · n + z · h", lambda z, n, h: (1 - z) * n + z * h),),
    ),
    "lstm": CellKind(
        nn.LSTM,
        {"i": Gate("input", "σ"), "f": Gate("forget", "σ"), "g": Gate("cell", "tanh"), "o": Gate("output", "σ")},
        ("h", "c"),
        ("proj_size",),
        (
            Formula("c'", "f · c + i · g", lambda f, c, i, g: f * c + i * g),
            Formula("h'", "o · tanh(c')", lambda o, c: o * math.tanh(c)),
        ),
    ),
}
RECURRENT = tuple(kind.module for kind in CELL_KINDS.values())


def kind_of(module: nn.RNNBase) -> CellKind:
    """Return the kind of a module of torch's own, or of a subclass."""
    return next(kind for kind in CELL_KINDS.values() if module.mode in kind.modes)
