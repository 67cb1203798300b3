"""Sorting: why the longest sequence comes first, and how every row finds its way back."""

from ui import sorting
from ui.lesson import lesson
from ui.part import numbers, onward, part, try_this
from ui.runs import Shown


def sections(shown: Shown) -> None:
    """Say what stands below the movie."""
    try_this(
        "Promise torch that the rows are sorted; or give it equal lengths.",
        {
            "enforce_sorted on": {"enforce_sorted": True},
            "enforce_sorted off": {"enforce_sorted": False},
            "17 equal lengths": {"sequences": "\n".join(str(row) for row in range(1, 18))},
        },
    )
    with part(
        "enforce_sorted, both ways",
        "`True` is a promise that torch checks. `False` lets torch sort.",
    ):
        sorting.enforced(shown)
    with part("Equal lengths", "Which of them comes first is torch's choice: read `sorted_indices`, never guess."):
        sorting.equals(shown)
    numbers(shown, "sort")
    onward("pages/3_packing.py", "Next: packing")


lesson(
    "Why are the sequences sorted?",
    "The cell takes the first `batch_sizes[t]` rows. Only if the longest comes first are they the live ones.",
    ("sort",),
    sections,
)
