"""Unpacking: the output becomes a grid again, and which part of it to read."""

from ui.parts.lesson import lesson
from ui.views import unpacking

lesson(
    "unpacking",
    "Which output do I want?",
    "`pad_packed_sequence` puts the output back into a grid. It writes a fixed value where the RNN computed nothing.",
    {"Which one do I want?": unpacking.which_one},
    to_try=(
        "Which ways to read the output are still right?",
        unpacking.to_try,
    ),
    ended=unpacking.finished,
    onward=("compare", "Next: compare with the padded run →"),
)
