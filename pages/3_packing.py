"""Packing: column by column into one tensor, and what a PackedSequence is."""

from ui import packing
from ui.lesson import lesson

lesson(
    "What is in a PackedSequence?",
    "One row per token, ordered by time step, with no padding. `batch_sizes[t]` rows belong to time step t.",
    ("pack",),
    (
        (
            "Pack it yourself",
            "Tap the cells in the order in which torch packs them, or drag them to `data`.",
            packing.by_hand,
        ),
        (
            "Where is a token?",
            "At `data[offset[t] + position]`: after all earlier time steps, at its position within its own.",
            packing.addresses,
        ),
        (
            "lengths and batch_sizes count the same cells",
            "Along the rows they give `lengths`, down the columns `batch_sizes`.",
            packing.margins,
        ),
        (
            "Three memory layouts",
            "The same tokens in different orders, with or without padding between them.",
            packing.layouts,
        ),
        (
            "A PackedSequence in Python",
            "A tuple of four fields, not a tensor. Each line was run on this batch.",
            packing.inside,
        ),
    ),
    to_try=("Make one sequence much longer than the others, and watch `batch_sizes`.", packing.to_try),
    onward=("running", "Next: how does it run? →"),
)
