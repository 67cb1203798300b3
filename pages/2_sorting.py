"""Sorting: why the longest sequence comes first, and how every row finds its way back."""

from ui import sorting
from ui.lesson import lesson

lesson(
    "Why are the sequences sorted?",
    "At time step t the cell takes the first `batch_sizes[t]` rows. These are the live sequences only if the longest "
    "come first.",
    ("sort",),
    (
        (
            "enforce_sorted, both ways",
            "`True` is a promise that torch checks. `False` lets torch sort.",
            sorting.enforced,
        ),
        (
            "Equal lengths",
            "Which of them comes first is torch's choice: read `sorted_indices`, never guess.",
            sorting.equals,
        ),
    ),
    to_try=("Promise torch that the rows are sorted, or give it equal lengths.", sorting.to_try),
    onward=("packing", "Next: how to pack? →"),
)
