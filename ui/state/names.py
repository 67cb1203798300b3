"""Every name in the address, with its owner, the file that draws or gives it ("": Streamlit does), and its default."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args, get_type_hints

from packviz.compute.runs import RUN_KINDS
from packviz.inputs.config import DIRECTIONS, Config
from packviz.inputs.examples import EXAMPLES
from packviz.inputs.row_config import RowConfig

SOURCE, PANEL = "ui/state/text.py", "ui/parts/settings.py"
PLAYER, SHARE, _TRAINING = "ui/parts/player.py", "ui/parts/share.py", "ui/views/trainings.py"
_QUESTIONS, _DOCTOR = "ui/views/questions.py", "ui/views/given.py"
_QUIZ, _CLASS = "ui/views/quiz.py", "ui/views/classroom.py"

# Keys of widgets that are not in the address and that a second file knows, too.
PLAN_NOTE = "plan note"  # typed beside the movie, and put into the plan
PLAN_ROW = "plan-row-"  # and the number of the item; ui/parts/plan.js reads its note
PLAN_FILE = "packviz-plan.json"  # ui/parts/plan.js presses the button that saves it
ONWARD = "onward"  # the links below a movie; player/streamlit.js follows them from the last step

PARTS = ("sidebar", "code", "menu")  # that a link may hide
THEMES = ("automatic", "light", "dark")  # automatic: as in the browser

_PACKING, _ROWS = asdict(Config()), asdict(RowConfig())
# The settings of a RowConfig, each with its name here. These four are also names of a Config or of the player.
ROW_NAMES = {name: name for name in _ROWS} | {
    "layer": "row_layer",
    "num_layers": "row_num_layers",
    "embedding_dim": "row_embedding_dim",
    "seed": "row_seed",
}
# What a movie watches: each argument of packviz.movie with its name here. "head" would be unclear in a link.
WATCHED = {part.argument: part.argument for kind in RUN_KINDS.values() for part in kind.watched} | {
    "head": "watched_head"
}

NAMES: Mapping[str, tuple[str, Any]] = {
    "example": (SOURCE, EXAMPLES[0].key),
    "sequences": (SOURCE, None),  # the text of the example
    "read_as": (SOURCE, "auto"),
    "layer": (PANEL, None),  # the top one
    "direction": (PANEL, DIRECTIONS[0]),
    "watched_head": (PANEL, 0),
    **{name: (PANEL, value) for name, value in _PACKING.items()},
    **{ROW_NAMES[name]: (PANEL, value) for name, value in _ROWS.items()},
    "step": (PLAYER, 1),
    "search": (_QUESTIONS, ""),
    "group": (_QUESTIONS, None),  # the first
    "entry": (_QUESTIONS, ""),
    "given": ("ui/views/doctor.py", "a batch"),  # or rows, or a file
    "rows": ("ui/views/doctor_rows.py", "position_ids: 0 1 2 0 1 0 0 0\nattention_mask: 1 1 1 1 1 0 0 0"),
    "x": (_DOCTOR, "[[1, 2, 3, 4], [5, 6, 7, 0], [8, 9, 0, 0]]"),
    "lengths": (_DOCTOR, "5, 3, 2"),
    "x_batch_first": (_DOCTOR, True),
    "x_enforce_sorted": (_DOCTOR, True),
    "x_padding_value": (_DOCTOR, None),  # assumed
    "file_batch_first": (_DOCTOR, True),
    "file_enforce_sorted": (_DOCTOR, False),
    "file_padding_value": (_DOCTOR, None),
    "level": ("ui/views/quiz_round.py", 1),
    "round": ("ui/views/quiz_round.py", None),  # a random one
    "worksheet": (_QUIZ, False),
    "question": (_QUIZ, 1),  # the first question of the round; in a lesson the player writes it
    "train_task": (_TRAINING, "vowels"),
    "train_readouts": (_TRAINING, None),  # all of them
    "train_pads": (_TRAINING, None),  # all of them
    "train_seeds": (_TRAINING, 3),
    "train_both": (_TRAINING, False),
    "job": ("ui/parts/progress.py", None),  # the key of the visitor's long work, by which it is found again
    "room": (_CLASS, None),
    "view": (_CLASS, None),  # projector
    "presenter": (_CLASS, False),
    "hide": (SHARE, ""),
    "lock": (SHARE, ""),
    "theme": (SHARE, THEMES[0]),  # ui/server/theme.js has Streamlit follow it
    "embed": ("", None),
    "embed_options": ("", None),
}


def _numbers(config: type) -> list[str]:
    """Return the settings of a config that are numbers."""
    return [name for name, hint in get_type_hints(config).items() if {int, float} & {hint, *get_args(hint)}]


NUMBERS = (  # whose widget is a number input
    *_numbers(Config),
    *(ROW_NAMES[name] for name in _numbers(RowConfig)),
    *("train_seeds", "x_padding_value", "file_padding_value"),
)

SETTINGS = ("all", *(name for name, (owner, _) in NAMES.items() if owner in (SOURCE, PANEL)))  # that a link may fix


def default(name: str) -> Any:
    """Return the value of a name that the address does not mention."""
    return NAMES[name][1]


def watched(asked: Mapping[str, int | None]) -> dict[str, object]:
    """Return what is watched, given as arguments of packviz.movie, by its names and with its values in the address."""
    return {WATCHED[name]: DIRECTIONS[number or 0] if name == "direction" else number for name, number in asked.items()}


def changed(settings: Mapping[str, object]) -> dict[str, str]:
    """Return the query for these settings: those that differ from the defaults."""
    return {name: str(value) for name, value in settings.items() if value != default(name)}
