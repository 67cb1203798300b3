"""What packing is for, and the whole way: padded, sorted, packed, run, unpacked."""

from ui.parts.lesson import overview
from ui.views import trainings

overview(
    "*Padding* misleads *RNN* classifiers; *packing* does not",
    trainings.accuracy,
    ("padding", "Lesson 1: why pad? →"),
    ("do_i_need_it", "Do I need packing? →"),
)
