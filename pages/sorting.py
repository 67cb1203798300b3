"""Sorting: why the longest sequence comes first, and how every row finds its way back."""

from ui.parts.lesson import lesson
from ui.views import sorting

lesson(
    "sorting",
    "Why are the sequences sorted?",
    "At each time step the RNN takes the top rows. So the rows that still have a token must be on top: the longest "
    "sequences come first.",
    {"What does enforce_sorted change?": sorting.enforced, "What happens to equal lengths?": sorting.equals},
    to_try=("Set `enforce_sorted=True`, or try equal lengths.", sorting.to_try),
    onward=("packing", "Next lesson: packing →"),
)
