"""Whether padding hurts accuracy, trained and not guessed."""

from ui.parts.lesson import measured
from ui.views import trainings

measured(
    "Does padding hurt accuracy?",
    "Real recordings, a small model, several seeds. A difference counts only if it exceeds twice the combined "
    "standard deviation over seeds.",
    "train",
    {"": trainings.full_run, "Train it yourself": trainings.trained},
)
