"""Whether padding hurts accuracy, trained and not guessed."""

from ui import trainings
from ui.lesson import measured
from ui.part import part
from ui.runs import Shown


def sections(shown: Shown) -> None:
    """Say what stands on the page."""
    with part(
        "Train it", "The same small model each time; what differs is what it reads, and how many pads are added."
    ):
        trainings.trained(shown)


measured(
    "Does padding hurt accuracy?",
    "Real recordings, a small model, several seeds. A difference counts only where it is larger than the spread.",
    "train",
    sections,
)
