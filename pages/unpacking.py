"""Unpacking: the output becomes a grid again, and which part of it to read."""

from ui.parts.lesson import lesson
from ui.views import unpacking

lesson(
    "unpacking",
    "Which output do I want?",
    "`pad_packed_sequence` puts the output back into a grid, and fills the cells that no RNN computed.",
    {"Which one do I want?": unpacking.which_one},
    to_try=(
        "Which ways to read the output stay right?",
        unpacking.to_try,
    ),
    ended=unpacking.finished,
    onward=("compare", "Next: does it matter? →"),
)
