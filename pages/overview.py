"""What packing is for, and the whole way: padded, sorted, packed, run, unpacked."""

from ui.parts.lesson import overview
from ui.views import trainings

overview(
    "*Padding* adds empty steps that *RNNs* read; *packing* drops them",
    trainings.accuracy,
    ("padding", "Lesson 1: padding →"),
    ("compare", "Compare with the padded run →"),
    ("do_i_need_it", "Do I need packing? →"),
)
