"""What packing is for, and the whole way: padded, sorted, packed, run, unpacked."""

from ui import trainings
from ui.lesson import overview

overview(
    "Why pack sequences?",
    "Padding makes the RNN read filler. Packing keeps it out.",
    trainings.accuracy,
    ("padding", "First lesson: why pad? →"),
)
