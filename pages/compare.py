"""Padded beside packed: the same module and weights on both."""

from ui.parts.lesson import compared
from ui.state.runs import BESIDE
from ui.views import comparing

compared(
    "Does padding change the result?",
    "The same module runs padded and packed. Packed, a finished sequence stops; padded, the pads keep changing its "
    "state.",
    BESIDE,
    comparing.at_a_glance,
    {
        "What is equal": comparing.verdicts,
        "Readouts": comparing.readings,
        "Drift on padding": comparing.drifting,
        "One setting at a time": comparing.other_settings,
        "Batch dependence": comparing.alone,
        "Loss and gradients": comparing.training,
        "The way back": comparing.going_back,
        "Padding in other layers": comparing.pads_elsewhere,
    },
    ("training", "Next: does it hurt accuracy? →"),
)
