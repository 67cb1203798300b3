"""Padded beside packed: the same module and weights on both."""

from ui.parts.lesson import compared
from ui.state.kinds import BESIDE
from ui.views import comparing

compared(
    "Does padding change the result?",
    "The same module runs twice. If a sequence is packed, its state stays as it was at its last token. If it is "
    "padded, the pads keep changing it.",
    BESIDE,
    comparing.at_a_glance,
    {
        "What is equal": comparing.equal,
        "What changes it": comparing.changes,
        "Loss and gradients": comparing.training,
    },
    ("training", "Next: less accurate? →"),
    ("two_packings", "For transformers →"),
)
