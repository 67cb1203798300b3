"""What packing is for, and the whole way: padded, sorted, packed, run, unpacked."""

from ui.parts.lesson import overview
from ui.views import trainings

overview(
    "Why pack sequences?",
    "An *RNN* reads padding; packing skips it.",
    trainings.accuracy,
    ("padding", "First lesson: why pad? →"),
    ("compare", "Padded beside packed →"),
)
