"""Whether padding hurts accuracy, trained and not guessed."""

from ui import trainings
from ui.lesson import measured

measured(
    "Does padding hurt accuracy?",
    "Real recordings, a small model, several seeds. A difference counts only where it is larger than the spread.",
    "train",
    (
        ("", "", trainings.full_run),
        (
            "Train it yourself",
            "The same small model each time, trained by this server, now; what differs is what it reads, and how much "
            "padding is added.",
            trainings.trained,
        ),
    ),
)
