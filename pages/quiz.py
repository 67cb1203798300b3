"""Quiz: ten predictions on random batches, with the movie as the explanation."""

from ui.parts.lesson import apart
from ui.views.quiz import quiz

apart("Can you predict it?", "")
quiz(
    "You get ten questions on random batches. PyTorch checks your answers, and the movie then shows why. "
    "Everyone who opens the same link gets the same ten questions.",
    "A right answer scores 2 points on the first try and 1 on the second.",
)
