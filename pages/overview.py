"""What packing is for, and the whole way: padded, sorted, packed, run, unpacked."""

from ui.parts.lesson import overview
from ui.views import trainings

overview(
    "Why pack sequences?",
    "Padding makes the RNN read pads. Packing prevents that.",
    trainings.accuracy,
    ("padding", "First lesson: why pad? →"),
)
