"""The doctor: what is wrong with a batch, silently."""

from ui.parts.lesson import apart
from ui.views.doctor import doctor

apart(
    "Is my batch what I think it is?",
    "Most mistakes with lengths, padding and borders raise no error. Give a batch or a row, and see what is wrong.",
)
doctor()
