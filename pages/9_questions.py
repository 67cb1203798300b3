"""Questions that people ask about packing, answered by running them."""

from ui.questions import questions

questions(
    "What do people ask about packing?",
    "Behind each claim stands a small program that this server has run; the verdict follows from what it did.",
)
