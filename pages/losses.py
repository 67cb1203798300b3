"""Losses: what each token weighs in the number that a framework prints."""

from ui.parts.lesson import lesson
from ui.parts.part import numbers_and_program
from ui.views import losses

lesson(
    "losses",
    "What does the loss count?",
    "How much a token counts depends on what you average over: tokens, documents or rows.",
    {
        "Three means: with each document alone, and in rows": losses.three_numbers,
        "Micro-batches and gradient accumulation": losses.micro_batches,
        "A document without a target": losses.without_target,
        "The numbers, and the same run in plain PyTorch": numbers_and_program,
    },
    to_try=("Watch how much each token counts.", losses.to_try),
    onward=("doctor", "Next: check my batch →"),
)
