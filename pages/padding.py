"""Padding: ragged rows become a grid, and what that grid alone cannot tell."""

from ui.parts.lesson import lesson
from ui.views import padding

lesson(
    "padding",
    "How do sequences fit into one tensor?",
    "All rows of a tensor are equally long, so `pad_sequence` fills up the short ones. You need `lengths` to "
    "know which values are tokens.",
    {
        "What torch says without padding": padding.stacked,
        "What the grid alone does not say": padding.confused,
        "Zeros still change the state": padding.embedding,
        "How much of a batch is padding?": padding.shares,
    },
    to_try=("Can you still tell the lengths from the grid alone?", padding.to_try),
    seen=padding.SEEN,
    onward=("sorting", "Next lesson: sorting →"),
)
