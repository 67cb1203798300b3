"""Padding: ragged rows become a grid, and what that grid does not know."""

from ui import padding
from ui.lesson import lesson
from ui.part import numbers, onward, part, try_this
from ui.runs import Shown


def sections(shown: Shown) -> None:
    """Say what stands below the movie."""
    try_this(
        "Change what pads, or where; then look at what the grid forgets.",
        padding.to_try(shown),
    )
    with part("What torch says without padding", "The same sequences, as they are."):
        padding.stacked(shown)
    with part("What the grid forgets", "Counting what is not padding works only while no real token looks like it."):
        padding.confused(shown)
    with part("Zero is not nothing", "The cell is run on, with inputs of zeros after the last token."):
        padding.embedding(shown)
    with part("How much of a batch is padding?", "Mean over random batches of 32, each padded to its own longest."):
        padding.shares(shown)
    numbers(shown, "pad")
    onward("pages/2_sorting.py", "Next: sorting")


lesson(
    "How do ragged sequences become one tensor?",
    "A tensor has rows of one length. `pad_sequence` fills the short ones up. Only `lengths` knows what is real.",
    ("pad", "embed"),
    sections,
)
