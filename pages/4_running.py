"""Running: the cell, one time step at a time."""

from ui import running
from ui.lesson import lesson
from ui.part import numbers, onward, part, try_this
from ui.runs import Shown


def sections(shown: Shown) -> None:
    """Say what stands below the movie."""
    try_this(
        "Let the cell read backward: its live rows grow instead of shrinking.",
        {
            "watch backward": {"bidirectional": True, "direction": "backward"},
            "only forward": {"bidirectional": False},
            "lstm": {"cell": "lstm"},
            "two layers": {"num_layers": 2},
        },
    )
    with part("One hidden unit, term by term", "Click a number in the movie, or choose here."):
        running.one_unit(shown)
    with part("The whole run", "Each band is a sequence, each line of it a hidden unit. Ringed: the last valid step."):
        running.over_time(shown)
    with part("Where does h_0 come from?", "Four ways to begin, and how far each moves `h_n` on this batch."):
        running.initial_states(shown)
    numbers(shown, "run")
    onward("pages/5_unpacking.py", "Next: unpacking")


lesson(
    "What does the cell compute at one time step?",
    "It takes the rows of one time step and the rows of `h` that belong to them. The state of an ended sequence stays.",
    ("run",),
    sections,
)
