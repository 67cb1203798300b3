"""The doctor: what is wrong with a batch, silently."""

from ui.parts.lesson import apart
from ui.views.doctor import doctor

apart(
    "Is my batch what I think it is?",
    "Most mistakes with lengths and padding raise no error. Each finding says what torch did when it ran just now.",
)
doctor()
