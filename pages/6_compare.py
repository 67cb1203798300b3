"""Padded beside packed: the same module and weights on both."""

from ui import comparing
from ui.lesson import lesson
from ui.runs import BESIDE

lesson(
    "Does padding change the result?",
    "The same module with the same weights runs on both. Packed, a sequence that has ended is left alone; padded, its "
    "state goes on changing.",
    BESIDE,
    (
        ("What is equal, what is not", "Computed from both runs, just now.", comparing.verdicts),
        (
            "Three ways to read the result",
            "Each on both sides, beside the state after the whole sequence.",
            comparing.readings,
        ),
        (
            "How far does a state drift on padding?",
            "After its last valid step, the cell goes on reading padding.",
            comparing.drifting,
        ),
        ("One switch at a time", "The same comparison, each time with one setting changed.", comparing.other_settings),
        ("Batch dependence", "One sequence alone, and in this batch.", comparing.alone),
        (
            "Loss and gradients",
            "A small linear layer on top, with random targets, the same on both sides.",
            comparing.training,
        ),
        (
            "Padding in other layers",
            "Batch norm, attention and pooling read the padding too, unless they are given a mask.",
            comparing.pads_elsewhere,
        ),
    ),
    to_try=("Switch what changes the verdict.", comparing.to_try),
)
