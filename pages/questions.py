"""Questions that people ask about packing, answered by running them."""

from ui.views.questions import questions

questions(
    "What do people ask about packing?",
    "Every answer comes with code that was run on this server, so that you can see for yourself.",
)
