"""What leaks: layer by layer, what keeps the documents of a row apart, and what happens without it."""

from ui.parts.lesson import lesson
from ui.parts.part import numbers_and_program
from ui.views import what_leaks

lesson(
    "what_leaks",
    "What leaks from one document into the next?",
    "A token should affect only the outputs of its own document. "
    "The **influence** of a token is how much an output changes if that token is changed.",
    {
        "Every layer on this batch, with and without its borders": what_leaks.layers,
        "Episodes of a game, one after another, are a row, too": what_leaks.rollout,
        "The same probes on your own model": what_leaks.own_model,
        "The numbers, and the same run in plain PyTorch": numbers_and_program,
    },
    to_try=("Try another layer, or let the documents mix.", what_leaks.to_try),
    ended=what_leaks.finished,
    onward=("losses", "Next lesson: what the loss counts →"),
)
