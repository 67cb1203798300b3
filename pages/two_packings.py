"""Two packings: the same tokens by time step for an RNN, and by sequence for a transformer."""

from ui.parts.lesson import lesson
from ui.parts.part import do_i_need_it, numbers_and_program
from ui.views import two_packings

lesson(
    "two_packings",
    "What does packing mean for a transformer?",
    "Several texts, called documents, stand one after another in one row. `cu_seqlens` says where each begins: it "
    "starts with 0 and adds each length. Rows save work if many texts are short. Otherwise, pad and pass a mask.",
    {
        "Two packings of this batch": two_packings.side_by_side,
        "The numbers, and the same run in plain PyTorch": numbers_and_program,
    },
    to_try=(
        "Which of the two packings changes?",
        two_packings.to_try,
    ),
    ended=do_i_need_it,
    onward=("filling_rows", "Next lesson: filling rows →"),
)
