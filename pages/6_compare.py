"""Padded beside packed: the same module and weights on both."""

from ui import comparing
from ui.lesson import compared
from ui.runs import BESIDE

compared(
    "Does padding change the result?",
    "The same module with the same weights runs on both. Packed, a finished sequence stops; padded, the pads "
    "keep changing its state.",
    BESIDE,
    comparing.at_a_glance,
    (
        ("What is equal", "Computed from both runs, just now.", comparing.verdicts),
        (
            "Three readouts",
            "Three ways to read the result, on both sides, beside the state after the whole sequence.",
            comparing.readings,
        ),
        (
            "Drift on padding",
            "After a sequence's last valid step, the cell goes on reading padding.",
            comparing.drifting,
        ),
        (
            "One switch at a time",
            "The same comparison, each time with one setting changed.",
            comparing.other_settings,
        ),
        ("Batch dependence", "One sequence alone, and in this batch.", comparing.alone),
        (
            "Loss and gradients",
            "A small linear layer on top, with random targets, the same on both sides.",
            comparing.training,
        ),
        (
            "Padding in other layers",
            "Batch norm, attention and pooling read the padding, too, unless it is masked out.",
            comparing.pads_elsewhere,
        ),
    ),
    ("training", "Next: does it hurt accuracy? →"),
)
