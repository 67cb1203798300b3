"""The settings of each kind of run as widgets in the sidebar."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import streamlit as st

from packviz.inputs.cell_kinds import Cell
from packviz.inputs.config import DIRECTIONS, InitialState, Nonlinearity, PaddingSide
from packviz.inputs.limits import LIMITS
from packviz.inputs.row_config import STRATEGIES, DType, Positions, RowLayer, ShiftLabels
from packviz.show.movie.rows.words import say
from ui.state import names
from ui.state.kinds import PACKING, ROWS, AppKind
from ui.state.names import ROW_NAMES
from ui.state.widgets import bound, choice, switch, whole


@dataclass(frozen=True)
class SettingsPanel:
    """The widgets of one kind of run.

    first: draws those that are always there, and returns their values by the names in the config. watched: draws what
    the run shows, and returns it as arguments of packviz.movie. more: draws each of the others, given its name in the
    address.
    """

    first: Callable[[], dict[str, object]]
    watched: Callable[[dict[str, object]], dict[str, Any]]
    more: Mapping[str, Callable[[str], object]]


def _cell() -> dict[str, object]:
    """Draw the settings of the cell, and of what is packed."""
    settings: dict[str, object] = {"cell": choice("cell", get_args(Cell))}
    left, right = st.columns(2)
    with left:
        settings["hidden_size"] = whole(
            "hidden_size", 1, LIMITS.hidden_size, "A hidden state has this many numbers (H)."
        )
    with right:
        settings["num_layers"] = whole(
            "num_layers", 1, LIMITS.num_layers, "The module has this many layers (L). Each reads the one below."
        )
    settings["bidirectional"] = switch(
        "bidirectional", "A second run reads each sequence from its last token to its first, so D = 2."
    )
    promise = "If this is on, you promise that the lengths never increase. If it is off, PyTorch sorts the sequences."
    return settings | {"enforce_sorted": switch("enforce_sorted", promise)}


_SHOWN = "The movie shows this one. All of them run."


def _watched(settings: dict[str, object]) -> dict[str, Any]:
    """Return the layer and the direction that the run shows, asking only if there are several."""
    layer = _watched_layer(settings)
    asked = settings["bidirectional"]
    direction = choice("direction", DIRECTIONS, _SHOWN, label="Show direction") if asked else DIRECTIONS[0]
    return {"layer": layer, "direction": DIRECTIONS.index(direction)}


def _watched_layer(settings: dict[str, object]) -> int | None:
    """Return the layer that the run shows, asking only if there are several."""
    layers = settings["num_layers"]
    assert isinstance(layers, int)
    return choice("layer", range(layers), _SHOWN, label="Show layer", first=layers - 1) if layers > 1 else None


def _watched_head(settings: dict[str, object]) -> dict[str, Any]:
    """Return the layer and the head of attention that the run shows, asking only if there are several."""
    layer, heads = _watched_layer(settings), settings["num_heads"]
    assert isinstance(heads, int)
    several = settings["layer"] == "attention" and heads > 1
    return {"layer": layer, "head": choice("watched_head", range(heads), _SHOWN, label="Show head") if several else 0}


_APART = "If this is on, the documents of a row are kept apart. If it is off, the layer runs over the whole row."


def _rows() -> dict[str, object]:
    """Draw how rows are filled, what runs over them, and what keeps documents apart."""
    strategy = choice(
        "strategy", STRATEGIES, "This strategy fills the rows. The lesson Filling rows compares all of them."
    )
    st.caption(say(f"fill.{strategy}"))  # as in the movie
    return {
        "strategy": strategy,
        "max_length": whole(
            "max_length",
            1,
            LIMITS.max_length,
            "A row has this many cells (C). If this is empty, all tokens go into one row. If rows are to be filled, or "
            "one row would be too long, it has as many cells as the longest and the shortest sequence need together.",
        ),
        "layer": choice(ROW_NAMES["layer"], get_args(RowLayer), label="layer"),
        "isolate": switch("isolate", _APART),
        "reset_positions": switch("reset_positions", "If this is on, positions start again at 0 in each document."),
        "positions": choice("positions", get_args(Positions), "Attention learns the order of the tokens in this way."),
        "causal": switch("causal", "If this is on, a token reads no later token."),
        "num_layers": whole(
            ROW_NAMES["num_layers"], 1, LIMITS.row_num_layers, "The model has this many layers (L).", label="num_layers"
        ),
        "num_heads": whole(
            "num_heads", 1, LIMITS.num_heads, "Attention has this many heads. The number must divide embedding_dim."
        ),
    }


_EMBEDDING = "An id becomes this many numbers. If this is empty, words get 4, and numbers enter the cell as they are."
_TOTAL = "The unpacked output has this many time steps. If this is empty, it has as many as the longest sequence."
_MORE: Mapping[str, Callable[[str], object]] = {  # of packing
    "nonlinearity": lambda name: choice(name, get_args(Nonlinearity), "Only nn.RNN uses this function."),
    "bias": lambda name: switch(name, "If this is on, the cell adds bias_ih and bias_hh."),
    "initial_state": lambda name: choice(name, get_args(InitialState), "This chooses the initial state h_0."),
    "embedding_dim": lambda name: whole(name, 1, LIMITS.embedding_dim, _EMBEDDING),
    "padding_idx": lambda name: whole(
        name, 0, LIMITS.padding_idx, "The padding token has this id, and its embedding stays zero."
    ),
    "seed": lambda name: whole(name, 0, 2**31 - 1, "The weights and the initial state are drawn with this seed."),
    "batch_first": lambda name: switch(
        name, "If this is on, a padded batch is (B, T, F). If it is off, it is (T, B, F)."
    ),
    "padding_value": lambda name: st.number_input(
        name, -1e6, 1e6, names.default(name), 1.0, "%g", **bound(name, "This value fills the short rows.")
    ),
    "padding_side": lambda name: choice(name, get_args(PaddingSide)),
    "total_length": lambda name: whole(name, 1, LIMITS.total_length, _TOTAL),
}
_MORE_ROWS: Mapping[str, Callable[[str], object]] = {
    "embedding_dim": lambda name: whole(
        name,
        1,
        LIMITS.row_embedding_dim,
        "Between the layers, each token is a vector of this many numbers (E).",
        label="embedding_dim",
    ),
    "kernel_size": lambda name: whole(
        name, 1, LIMITS.kernel_size, "The convolution reads windows of this many tokens."
    ),
    "shift_labels": lambda name: choice(
        name, get_args(ShiftLabels), "A label is the next token of the document, or of the row."
    ),
    "dtype": lambda name: choice(name, get_args(DType)),
    "seed": lambda name: whole(name, 0, 2**31 - 1, "The weights are drawn with this seed.", label="seed"),
}
PANELS: Mapping[AppKind, SettingsPanel] = {
    PACKING: SettingsPanel(_cell, _watched, _MORE),
    ROWS: SettingsPanel(_rows, _watched_head, _MORE_ROWS),
}
