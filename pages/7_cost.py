"""What padding and packing cost: counted and measured, never mixed."""

from ui import costs
from ui.lesson import measured

measured(
    "What does packing save?",
    "The point of packing is correct results first, speed second. Cell updates, steps and milliseconds are three "
    "different numbers.",
    "measure sweep",
    (
        ("", "", costs.full_run),
        (
            "Where does packing win here?",
            "Packed ÷ padded time on this server, by fill (the share of real tokens) and by one size. Below 1, packing "
            "is faster.",
            costs.landscape,
        ),
        ("Counted", "Cell updates and sequential steps of this batch; bytes of its inputs and outputs.", costs.counted),
        (
            "Measured",
            "Milliseconds of this batch on this server, now: medians of alternating runs, with their spread.",
            costs.measured,
        ),
        (
            "Less padding without packing",
            "Batches of similar lengths waste less, whatever model runs on them.",
            costs.without_packing,
        ),
    ),
)
