"""Quiz: ten predictions on random batches, with the movie as the explanation."""

from ui.lesson import apart
from ui.quiz import quiz

apart("Can you predict it?", "")
quiz(
    "Ten questions on random batches, checked by PyTorch; the movie then shows why. "
    "Right at the first try is 2 points, at the second 1. Who opens the same link gets the same ten."
)
