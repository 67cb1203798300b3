"""Whether padding hurts accuracy, trained and not guessed."""

from ui.parts.lesson import measured
from ui.views import trainings

measured(
    "Does padding hurt accuracy?",
    "We train a small model on real recordings, several times, each time from different random weights. A difference "
    "matters only if it is much larger than the differences between these trainings.",
    ("train",),
    {"": trainings.full_run, "Train it yourself": trainings.trained},
)
