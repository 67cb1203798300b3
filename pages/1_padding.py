"""Padding: ragged rows become a grid, and what that grid does not know."""

from ui import padding
from ui.lesson import lesson

lesson(
    "How do ragged sequences become one tensor?",
    "All rows of a tensor have the same length, so `pad_sequence` fills up the short ones. Only `lengths` knows which "
    "values are real.",
    ("pad", "embed"),
    (
        ("What torch says without padding", "The same sequences, as they are.", padding.stacked),
        (
            "What the grid does not know",
            "Counting the cells that are not padding works only while no real token equals the padding value.",
            padding.confused,
        ),
        (
            "Zeros still change the state",
            "After the last token the cell goes on, with zeros as input.",
            padding.embedding,
        ),
        (
            "How much of a batch is padding?",
            "The mean over random batches of 32, each padded to its own longest sequence.",
            padding.shares,
        ),
    ),
    to_try=("Change one of these; then look at what the grid does not know.", padding.to_try),
    onward=("sorting", "Next: why sort? →"),
)
