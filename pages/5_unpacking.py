"""Unpacking: the output becomes a grid again, and which part of it one wants."""

from ui import unpacking
from ui.lesson import lesson
from ui.part import numbers, onward, part, try_this
from ui.runs import Shown


def sections(shown: Shown) -> None:
    """Say what stands below the movie."""
    try_this(
        "Read both ways, or ask for a wider grid, and see which markers stay right.",
        unpacking.to_try(shown),
    )
    with part(
        "Which one do I want?",
        "Right means: every direction has read the whole sequence, and no padding or filler is mixed in.",
    ):
        unpacking.which_one(shown)
    numbers(shown, "unpack")
    onward("pages/0_overview.py", "Back to the overview")


lesson(
    "Which output do I want?",
    "`pad_packed_sequence` puts the output back into a grid. What it fills in is no output of the cell.",
    ("unpack",),
    sections,
)
