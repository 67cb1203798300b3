"""Filling rows: documents go into rows of one length, by the strategies of the training libraries."""

from ui.parts.lesson import lesson
from ui.parts.part import numbers_and_program
from ui.views import filling_rows

lesson(
    "filling_rows",
    "How are documents put into rows?",
    "All rows have the same length, `max_length`, and a strategy chooses the row of each document. "
    "Rows are short here by default, so that you can see several of them at once.",
    {
        "Fill the rows yourself": filling_rows.by_hand,
        "Every strategy on this batch": filling_rows.strategies,
        "How full are the rows? By strategy and row length": filling_rows.capacities,
        "The numbers, and the same run in plain PyTorch": numbers_and_program,
    },
    to_try=(
        "Watch how many cells stay free, and how many tokens are dropped.",
        filling_rows.to_try,
    ),
    onward=("borders", "Next lesson: document borders →"),
)
