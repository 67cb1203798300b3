"""Every name in the address, with its owner and its default."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from packviz.inputs.config import Config
from packviz.inputs.examples import EXAMPLES
from packviz.inputs.row_config import RowConfig
from packviz.teach.questions import GROUPS

Owner = Literal["controls", "player", "questions", "doctor", "quiz", "lab", "class", "share", "Streamlit"]

PARTS = ("sidebar", "code", "menu")  # that a link may hide
THEMES = ("automatic", "light", "dark")  # automatic: as in the browser

_PACKING, _ROWS = asdict(Config()), asdict(RowConfig())
# the settings of a RowConfig, each with its name here: those that a Config or the player also has begin with row_
ROW_NAMES = {name: f"row_{name}" if name in (*_PACKING, "layer") else name for name in _ROWS}

NAMES: Mapping[str, tuple[Owner, Any]] = {
    "example": ("controls", EXAMPLES[0].key),
    "sequences": ("controls", None),  # the text of the example
    "read_as": ("controls", "auto"),
    "layer": ("controls", None),  # the top one
    "direction": ("controls", "forward"),
    "watched_head": ("controls", 0),
    **{name: ("controls", value) for name, value in _PACKING.items()},
    **{ROW_NAMES[name]: ("controls", value) for name, value in _ROWS.items()},
    "step": ("player", 1),
    "search": ("questions", ""),
    "group": ("questions", GROUPS[0]),
    "entry": ("questions", ""),
    "given": ("doctor", "a batch"),  # or rows, or a file
    "rows": ("doctor", "position_ids: 0 1 2 0 1 0 0 0\nattention_mask: 1 1 1 1 1 0 0 0"),
    "x": ("doctor", "[[1, 2, 3, 4], [5, 6, 7, 0], [8, 9, 0, 0]]"),
    "lengths": ("doctor", "5, 3, 2"),
    "x_batch_first": ("doctor", True),
    "x_enforce_sorted": ("doctor", True),
    "x_padding_value": ("doctor", None),  # assumed
    "file_batch_first": ("doctor", True),
    "file_enforce_sorted": ("doctor", False),
    "file_padding_value": ("doctor", None),
    "level": ("quiz", 1),
    "round": ("quiz", None),  # a random one
    "worksheet": ("quiz", False),
    "question": ("quiz", 1),  # the first question of the round; in a lesson the player writes it
    "train_task": ("lab", "vowels"),
    "train_readouts": ("lab", None),  # all of them
    "train_pads": ("lab", None),  # all of them
    "train_seeds": ("lab", 3),
    "train_both": ("lab", False),
    "job": ("lab", None),  # the key of the visitor's long work, by which it is found again
    "room": ("class", None),
    "view": ("class", None),  # projector
    "presenter": ("class", False),
    "hide": ("share", ""),
    "lock": ("share", ""),
    "theme": ("share", THEMES[0]),  # ui/server/theme.js has Streamlit follow it
    "embed": ("Streamlit", None),
    "embed_options": ("Streamlit", None),
}

NUMBERS = (  # whose widget is a number input
    *("hidden_size", "num_layers", "embedding_dim", "padding_idx", "total_length", "seed", "train_seeds"),
    *("padding_value", "x_padding_value", "file_padding_value"),
    *("max_length", "num_heads", "kernel_size", "row_num_layers", "row_embedding_dim", "row_seed"),
)

SETTINGS = ("all", *(name for name, (owner, _) in NAMES.items() if owner == "controls"))  # that a link may fix


def default(name: str) -> Any:
    """Return the value of a name that the address does not mention."""
    return NAMES[name][1]


def changed(settings: Mapping[str, object]) -> dict[str, str]:
    """Return the query for these settings: those that differ from the defaults."""
    return {name: str(value) for name, value in settings.items() if value != default(name)}
