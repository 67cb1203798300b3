"""Padded beside packed: the same module and weights on both."""

from ui.parts.lesson import compared
from ui.state.kinds import BESIDE
from ui.views import comparing

compared(
    "Does padding change the result?",
    "The same module runs twice. In the packed run, a sequence's state stops changing after its last token. In "
    "the padded run, the pads change it further.",
    BESIDE,
    comparing.at_a_glance,
    {
        "Equal or different": comparing.equal,
        "More pads, other settings": comparing.changes,
        "Loss and gradients": comparing.training,
    },
    ("training", "Next: accuracy →"),
    ("two_packings", "For transformers →"),
)
