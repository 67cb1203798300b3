"""Running: the cell, one time step at a time."""

from ui.parts.lesson import lesson
from ui.views import running

lesson(
    "What does the cell compute at one time step?",
    "It reads the input rows of one time step and the hidden states of the same sequences. Once a sequence has ended, "
    "its state no longer changes.",
    ("run",),
    {
        "One hidden unit, term by term": running.one_unit,
        "The whole run": running.over_time,
        "Where does h_0 come from?": running.initial_states,
        "The way back: which gradient reaches which time step?": running.going_back,
    },
    to_try=("Let the cell read backward: the number of live rows grows instead of shrinking.", running.to_try),
    onward=("unpacking", "Next: which state to read? →"),
)
