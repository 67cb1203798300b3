"""Padded beside packed: the same module and weights on both."""

from ui import comparing
from ui.lesson import lesson
from ui.part import part, try_this
from ui.runs import BESIDE, Shown


def sections(shown: Shown) -> None:
    """Say what stands below the movie."""
    try_this(
        "Switch what changes the verdict.",
        {
            "both directions": {"bidirectional": True, "direction": "backward"},
            "one direction": {"bidirectional": False},
            "no bias": {"bias": False},
            "bias": {"bias": True},
        },
    )
    with part("What is equal, what is not", "Computed from both runs, just now."):
        comparing.found(shown)
        comparing.differences(shown)
    with part("Three ways to read the result", "Each on both sides, beside the state after the whole sequence."):
        comparing.readings(shown)
    with part("How far does a state drift on pads?", "From its last valid step on, the cell is fed pads."):
        comparing.drifting(shown)
    with part("One switch at a time", "The same comparison, each time with one setting changed."):
        comparing.other_settings(shown)
    with part("Does the company matter?", "One sequence alone, and in this batch."):
        comparing.alone(shown)
    with part("Loss and gradients", "A small linear layer on top, with random targets, the same on both sides."):
        comparing.training(shown)
    with part("Pads in other layers", "Batch norm, attention and pooling see pads, too, unless they are told not to."):
        comparing.pads_elsewhere(shown)


lesson(
    "Does padding change the result?",
    "The same module with the same weights runs on both. Packed, ended rows rest; padded, pads go on moving them.",
    BESIDE,
    sections,
)
