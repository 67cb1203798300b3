"""Running: the cell, one time step at a time."""

from ui.parts.lesson import lesson
from ui.views import running

lesson(
    "running",
    "What happens at one time step?",
    "The RNN reads the next token of each sequence that still has one, and updates its hidden state.",
    {
        "One hidden unit, formula by formula": running.one_unit,
        "The whole run": running.over_time,
        "The way back: which gradient reaches which time step?": running.going_back,
    },
    to_try=(
        "Read the sequences backward, and watch how many sequences take part at each step.",
        running.to_try,
    ),
    onward=("unpacking", "Next lesson: unpacking →"),
)
