"""Packing: column by column into one strip, and what a PackedSequence is."""

from ui import packing
from ui.lesson import lesson
from ui.part import numbers, onward, part, try_this
from ui.runs import Shown


def sections(shown: Shown) -> None:
    """Say what stands below the movie."""
    try_this(
        "Make one sequence much longer than the others, and watch `batch_sizes`.",
        {
            "one long sequence": {"sequences": "1 2\n3\n4 5 6 7 8 9 10 11\n12 13"},
            "all equal": {"sequences": "1 2 3\n4 5 6\n7 8 9"},
        },
    )
    with part(
        "Where is a token?",
        "At `data[offset[t] + position]`: behind all earlier time steps, at its place in its own.",
    ):
        packing.addresses(shown)
    with part("Two margins of one staircase", "Along the rows one reads `lengths`, down the columns `batch_sizes`."):
        packing.margins(shown)
    with part(
        "Three ways to lie in memory",
        "The same tokens, in another order, with or without padding among them.",
    ):
        packing.layouts(shown)
    with part("A PackedSequence in Python", "A tuple of four fields, not a tensor. Each line was run on this batch."):
        packing.inside(shown)
    numbers(shown, "pack")
    onward("pages/4_running.py", "Next: running")


lesson(
    "What is in a PackedSequence?",
    "One row for each token, time step after time step, without padding. `batch_sizes[t]` rows belong to time step t.",
    ("pack",),
    sections,
)
