"""Packing: column by column into one tensor, and what a PackedSequence is."""

from ui.parts.lesson import lesson
from ui.views import packing

lesson(
    "What is in a PackedSequence?",
    "One row per token, ordered by time step, with no padding. `batch_sizes[t]` rows belong to time step t.",
    ("pack",),
    {
        "Pack it yourself": packing.by_hand,
        "Where is a token?": packing.addresses,
        "lengths and batch_sizes count the same cells": packing.margins,
        "Three memory layouts": packing.layouts,
        "A PackedSequence in Python": packing.inside,
    },
    to_try=("Make one sequence much longer than the others, and watch `batch_sizes`.", packing.to_try),
    onward=("running", "Next: how does it run? →"),
)
