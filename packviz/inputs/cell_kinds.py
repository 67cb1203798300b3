"""The cell kinds: their names in torch, their gates and states, and the formulas of the new state."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from torch import nn

Cell = Literal["rnn", "gru", "lstm"]


class Gate(NamedTuple):
    """A gate's name, the activation of its sum, and the letter of the gate that scales its hidden part."""

    name: str
    function: str
    weighed_by: str = ""


class Formula(NamedTuple):
    """A formula of the new state: its left and right side, and the right side as code."""

    left: str
    right: str
    calculate: Callable[..., float]  # its arguments are in the order in which their letters first appear on the right


@dataclass(frozen=True)
class CellKind:
    """Describe one kind of cell; its step is in compute/cells.py."""

    module: type[nn.RNN] | type[nn.GRU] | type[nn.LSTM]  # torch's class
    gates: Mapping[str, Gate]  # by letter, in torch's order; empty for the RNN, whose only gate is the new state
    states: tuple[str, ...]  # the letters of the states carried from step to step
    own: tuple[str, ...]  # the settings that only this class takes
    formulas: tuple[Formula, ...]  # how the gates make the new state, h' last

    @property
    def G(self) -> int:
        """Return the number of weight rows per hidden unit."""
        return max(1, len(self.gates))

    def weights(self, features: int, hidden_size: int, num_layers: int, directions: int) -> int:
        """Return the size of all weight matrices together: G·H rows of F + H, in the upper layers of D·H + H."""
        H, D = hidden_size, directions
        return self.G * H * D * (features + H + (num_layers - 1) * (D * H + H))

    @property
    def modes(self) -> tuple[str, ...]:
        """Return the values that torch gives modules of this kind in their attribute `mode`."""
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
        """Return a module of torch's class, ignoring the settings that only other kinds take."""
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


def cell_kind_of(module: nn.RNNBase) -> CellKind:
    """Return the kind of an nn.RNN, nn.GRU or nn.LSTM, or of a subclass instance."""
    return next(kind for kind in CELL_KINDS.values() if module.mode in kind.modes)
