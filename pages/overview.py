"""What packing is for, and the whole way: padded, sorted, packed, run, unpacked."""

from ui import trainings
from ui.lesson import overview

overview(
    "Why pack sequences?",
    "Padding makes the RNN read pads. Packing prevents that.",
    trainings.accuracy,
    ("padding", "First lesson: why pad? →"),
)
