"""Packing: column by column into one tensor, and what a PackedSequence is."""

from ui.parts.lesson import lesson
from ui.views import packing

lesson(
    "packing",
    "What is in a PackedSequence?",
    "A PackedSequence has one row per token, in time order, and no padding. `batch_sizes[t]` counts those of step t.",
    {
        "Pack it yourself": packing.by_hand,
        "Where is a token?": packing.addresses,
        "Two ways of counting the same tokens": packing.margins,
        "A PackedSequence in Python": packing.inside,
    },
    to_try=("Make one sequence much longer than the others, and watch `batch_sizes`.", packing.to_try),
    onward=("running", "Next lesson: running →"),
)
