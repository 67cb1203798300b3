"""What packing is for, and the whole way: padded, sorted, packed, run, unpacked."""

from ui.parts.lesson import overview
from ui.views import trainings

overview(
    "Why pack sequences?",
    "Padded, an RNN reads on after a sentence ends. Packed, it stops.",
    trainings.accuracy,
    ("padding", "First lesson: why pad? →"),
    ("two_packings", "The same batch for a transformer →"),
)
