"""The cell kinds: what torch calls them, which gates they have, and the formulas of their new state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from packviz.inputs.config import Cell

__all__ = ["CELL_KINDS", "CellKind", "kind_of"]


@dataclass(frozen=True)
class CellKind:
    """Hold what tells one kind of cell from the others; its step stands in compute/cells.py.

    module    torch's class
    gates     name -> function, in torch's order; of the RNN, whose one gate is its new state, none
    states    the letters of the states that it carries from step to step
    own       the settings that only this class takes
    formulas  how the new state is made of the gates, one line each: what stands left and right of the equals sign
    """

    module: type[nn.RNN] | type[nn.GRU] | type[nn.LSTM]
    gates: Mapping[str, str]
    states: tuple[str, ...]
    own: tuple[str, ...]
    formulas: tuple[tuple[str, str], ...]

    @property
    def G(self) -> int:
        """Return the number of rows of weights that each hidden unit has."""
        return max(1, len(self.gates))

    def named(self, when: str) -> tuple[str, ...]:
        """Return the names of the states: ("h_0", "c_0") for "0"."""
        return tuple(f"{letter}_{when}" for letter in self.states)

    def in_code(self, when: str) -> str:
        """Return the states as the module takes and returns them: "h_0", for the LSTM "(h_0, c_0)"."""
        names = self.named(when)
        return names[0] if len(names) == 1 else f"({', '.join(names)})"

    def build(self, features: int, hidden_size: int, num_layers: int = 1, **settings: Any) -> nn.RNNBase:
        """Return a bare module of torch's class, without the settings that only other kinds take."""
        foreign = {name for kind in CELL_KINDS.values() for name in kind.own} - {*self.own}
        taken = {name: value for name, value in settings.items() if name not in foreign}
        return self.module(features, hidden_size, num_layers, **taken)


CELL_KINDS: Mapping[Cell, CellKind] = {
    "rnn": CellKind(nn.RNN, {}, ("h",), ("nonlinearity",), ()),
    "gru": CellKind(nn.GRU, {"r": "σ", "z": "σ", "n": "tanh"}, ("h",), (), (("h'", "(1 - z) · n + z · h"),)),
    "lstm": CellKind(
        nn.LSTM,
        {"i": "σ", "f": "σ", "g": "tanh", "o": "σ"},
        ("h", "c"),
        ("proj_size",),
        (("c'", "f · c + i · g"), ("h'", "o · tanh(c')")),
    ),
}


def kind_of(module: nn.RNNBase) -> CellKind:
    """Return the kind of a module of torch's own, or of a subclass."""
    return next(kind for kind in CELL_KINDS.values() if module.mode.startswith(kind.module.__name__))
