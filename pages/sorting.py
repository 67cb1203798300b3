"""Sorting: why the longest sequence comes first, and how every row finds its way back."""

from ui.parts.lesson import lesson
from ui.views import sorting

lesson(
    "Why are the sequences sorted?",
    "At time step t, the RNN takes the first `batch_sizes[t]` rows. That works only if the longest sequences come "
    "first.",
    ("sort",),
    {"enforce_sorted, both ways": sorting.enforced, "Equal lengths": sorting.equals},
    to_try=("Promise torch that the rows are sorted, or give it equal lengths.", sorting.to_try),
    onward=("packing", "Next: how to pack? →"),
)
