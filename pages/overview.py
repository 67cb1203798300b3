"""What packing is for, and the whole way: padded, sorted, packed, run, unpacked."""

from ui.parts.lesson import overview
from ui.views import trainings

overview(
    "Why pack? Because RNNs read pads.",
    trainings.accuracy,
    ("padding", "Lesson 1: why pad? →"),
    ("do_i_need_it", "Do I need packing? →"),
)
