"""Questions that people ask about packing, answered by running them."""

from ui.questions import questions

questions(
    "What do people ask about packing?",
    "Every answer is a small program. It has just run, and its verdict follows from what it did.",
)
