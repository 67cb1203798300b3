"""Questions that people ask about packing, answered by running them."""

from ui.questions import questions

questions(
    "What do people ask about packing?",
    "Each answer was checked by running two small programs on this server; the verdict follows from what they did.",
)
