"""Running: the cell, one time step at a time."""

from ui import running
from ui.lesson import lesson

lesson(
    "What does the cell compute at one time step?",
    "It reads the input rows of one time step and the hidden states of the same sequences. Once a sequence has ended, "
    "its state no longer changes.",
    ("run",),
    (
        ("One hidden unit, term by term", "Click a number in the movie, or choose here.", running.one_unit),
        (
            "The whole run",
            "Each band is a sequence, each line in it a hidden unit. A ring marks the last valid step.",
            running.over_time,
        ),
        (
            "Where does h_0 come from?",
            "Four initial states, and how far each moves `h_n` on this batch.",
            running.initial_states,
        ),
    ),
    to_try=("Let the cell read backward: the number of live rows grows instead of shrinking.", running.to_try),
    onward=("unpacking", "Next: which state to read? →"),
)
