"""What packing is for, and the whole way: padded, sorted, packed, run, unpacked."""

from ui.parts.lesson import overview
from ui.views import trainings

overview(
    "*Padding* adds zeros that an *RNN* reads; *packing* leaves them out",
    trainings.accuracy,
    ("padding", "Lesson 1: why pad? →"),
    ("compare", "See the padded run →"),
    ("do_i_need_it", "Do I need packing? →"),
)
