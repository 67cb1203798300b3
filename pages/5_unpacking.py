"""Unpacking: the output becomes a grid again, and which part of it one wants."""

from ui import unpacking
from ui.lesson import lesson
from ui.part import numbers, onward, part, try_this
from ui.runs import Shown


def sections(shown: Shown) -> None:
    """Say what stands below the movie."""
    try_this(
        "Read both ways, or ask for a wider grid, and see which markers stay right.",
        {
            "bidirectional": {"bidirectional": True},
            "one direction": {"bidirectional": False},
            "total_length 8": {"total_length": 8},
            "padding_value 42": {"padding_value": 42.0},
        },
    )
    with part("Which one do I want?", "Right means: for every sequence the state after all of it, in every direction."):
        unpacking.which_one(shown)
    numbers(shown, "unpack")
    onward("pages/0_overview.py", "Back to the overview")


lesson(
    "Which output do I want?",
    "`pad_packed_sequence` puts the output back into a grid. What it fills in is no output of the cell.",
    ("unpack",),
    sections,
)
