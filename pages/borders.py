"""Borders: four tensors that say where the documents in a row begin, and the rules that read them."""

from ui.parts.lesson import lesson
from ui.parts.part import numbers_and_program
from ui.views import borders

lesson(
    "borders",
    "How does a layer know where a document begins?",
    "A layer reads it from one of four tensors: `position_ids`, `seq_idx`, `cu_seqlens` or the mask. "
    "Some libraries only guess it from `position_ids`.",
    {
        "What the rules find": borders.rules,
        "Which of the four does a layer take?": borders.readers,
        "The numbers, and the same run in plain PyTorch": numbers_and_program,
    },
    to_try=(
        "Each of these changes makes a rule fail.",
        borders.to_try,
    ),
    onward=("attention", "Next lesson: attention →"),
)
