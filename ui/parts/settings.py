"""The settings of each kind of run as widgets in the sidebar."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import get_args

import streamlit as st

from packviz.inputs.cell_kinds import Cell
from packviz.inputs.config import InitialState, Nonlinearity, PaddingSide
from packviz.inputs.limits import LIMITS
from packviz.inputs.row_config import DType, Positions, RowLayer, ShiftLabels, Strategy
from ui.state import names
from ui.state.kinds import PACKING, ROWS, AppKind
from ui.state.names import ROW_NAMES
from ui.state.widgets import bound, choice, switch, whole

WATCHED = ("layer", "direction", "watched_head")  # what the run shows


Watched = tuple[int | None, int, int]  # the layer, the direction and the head


@dataclass(frozen=True)
class SettingsPanel:
    """The widgets of one kind of run.

    first: draws those that are always there, and returns their values by the names in the config. watched: draws what
    the run shows, and returns layer, direction and head. more: draws each of the others, given its name in the
    address.
    """

    first: Callable[[], dict[str, object]]
    watched: Callable[[dict[str, object]], Watched]
    more: Mapping[str, Callable[[str], object]]


def _cell() -> dict[str, object]:
    """Draw the settings of the cell, and of what is packed."""
    settings: dict[str, object] = {"cell": choice("cell", get_args(Cell))}
    left, right = st.columns(2)
    with left:
        settings["hidden_size"] = whole("hidden_size", 1, LIMITS.hidden_size, "H: how many numbers a hidden state has.")
    with right:
        settings["num_layers"] = whole("num_layers", 1, LIMITS.num_layers, "L: each layer reads the one below.")
    settings["bidirectional"] = switch("bidirectional", "Also run from the last step to the first: D = 2.")
    promise = "On: you promise that the lengths never increase. Off: PyTorch sorts them."
    return settings | {"enforce_sorted": switch("enforce_sorted", promise)}


def _watched(settings: dict[str, object]) -> Watched:
    """Return the layer and the direction that the run shows, asking only if there are several."""
    ways = ("forward", "backward")
    layer = _watched_layer(settings)
    direction = choice("direction", ways, label="Watch direction") if settings["bidirectional"] else ways[0]
    return layer, ways.index(direction), 0


def _watched_layer(settings: dict[str, object]) -> int | None:
    """Return the layer that the run shows, asking only if there are several."""
    layers = settings["num_layers"]
    assert isinstance(layers, int)
    return choice("layer", range(layers), label="Watch layer", first=layers - 1) if layers > 1 else None


def _watched_head(settings: dict[str, object]) -> Watched:
    """Return the layer and the head of attention that the run shows, asking only if there are several."""
    layer, heads = _watched_layer(settings), settings["num_heads"]
    assert isinstance(heads, int)
    several = settings["layer"] == "attention" and heads > 1
    return layer, 0, (choice("watched_head", range(heads), label="Watch head") if several else 0)


def _rows() -> dict[str, object]:
    """Draw how rows are filled, what runs over them, and what keeps documents apart."""
    return {
        "strategy": choice("strategy", get_args(Strategy), "How the rows are filled: see the lesson Filling rows."),
        "max_length": whole(
            "max_length",
            1,
            LIMITS.max_length,
            "C, the cells of a row. Empty: one row for all tokens; if rows are to be filled, or one would be too long, "
            "as many as the longest and the shortest sequence need together.",
        ),
        "layer": choice(ROW_NAMES["layer"], get_args(RowLayer), label="layer"),
        "isolate": switch("isolate", "On: documents in a row are kept apart. Off: the layer runs over the whole row."),
        "reset_positions": switch("reset_positions", "On: positions start again at 0 in each document."),
        "positions": choice("positions", get_args(Positions), "How attention learns the order of the tokens."),
        "causal": switch("causal", "On: attention reads no later token."),
        "num_layers": whole(ROW_NAMES["num_layers"], 1, LIMITS.row_num_layers, "L, the layers.", label="num_layers"),
        "num_heads": whole("num_heads", 1, LIMITS.num_heads, "For attention; divides embedding_dim."),
    }


_TOTAL = "Time steps of the unpacked output. Empty: as many as the longest sequence has."
_MORE: Mapping[str, Callable[[str], object]] = {  # of packing
    "nonlinearity": lambda name: choice(name, get_args(Nonlinearity), "Only used by nn.RNN."),
    "bias": lambda name: switch(name, "Whether the cell adds bias_ih and bias_hh."),
    "initial_state": lambda name: choice(name, get_args(InitialState), "Where h_0 comes from."),
    "embedding_dim": lambda name: whole(name, 1, LIMITS.embedding_dim, "Empty: 4 for words, no embedding for numbers."),
    "padding_idx": lambda name: whole(
        name, 0, LIMITS.padding_idx, "The id of the padding token, whose embedding stays zero."
    ),
    "seed": lambda name: whole(name, 0, 2**31 - 1, "Random seed for the weights and the initial state."),
    "batch_first": lambda name: switch(name, "On: padded values are (B, T, F). Off: (T, B, F)."),
    "padding_value": lambda name: st.number_input(
        name, -1e6, 1e6, names.default(name), 1.0, "%g", **bound(name, "What fills the short rows.")
    ),
    "padding_side": lambda name: choice(name, get_args(PaddingSide)),
    "total_length": lambda name: whole(name, 1, LIMITS.total_length, _TOTAL),
}
_MORE_ROWS: Mapping[str, Callable[[str], object]] = {
    "embedding_dim": lambda name: whole(
        name, 1, LIMITS.row_embedding_dim, "E, the width of everything between the layers.", label="embedding_dim"
    ),
    "kernel_size": lambda name: whole(name, 1, LIMITS.kernel_size, "For the convolution."),
    "shift_labels": lambda name: choice(
        name, get_args(ShiftLabels), "Where the label of a token, the next one, is from."
    ),
    "dtype": lambda name: choice(name, get_args(DType)),
    "seed": lambda name: whole(name, 0, 2**31 - 1, "Random seed for the weights.", label="seed"),
}
PANELS: Mapping[AppKind, SettingsPanel] = {
    PACKING: SettingsPanel(_cell, _watched, _MORE),
    ROWS: SettingsPanel(_rows, _watched_head, _MORE_ROWS),
}
