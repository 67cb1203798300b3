"""Attention: query by query, which keys of the row it may read, and whether the document alone gets the same output."""

from ui.parts.lesson import lesson
from ui.parts.part import numbers_and_program
from ui.views import attention

lesson(
    "attention",
    "Which tokens does a token read?",
    "The token's query is compared with the keys that the mask allows. Its output is the weighted sum of their values.",
    {
        "Mask and positions, right and wrong": attention.both_ways,
        "A query for which the mask allows no key": attention.nothing_to_read,
        "The numbers, and the same run in plain PyTorch": numbers_and_program,
    },
    to_try=(
        "Which outputs differ from those of each document alone?",
        attention.to_try,
    ),
    onward=("what_leaks", "Next lesson: what leaks →"),
)
