"""Whether padding hurts accuracy, trained and not guessed."""

from ui import trainings
from ui.lesson import measured

measured(
    "Does padding hurt accuracy?",
    "Real recordings, a small model, several seeds. A difference counts only if it exceeds twice the combined "
    "standard deviation over seeds.",
    "train",
    {"": trainings.full_run, "Train it yourself": trainings.trained},
)
