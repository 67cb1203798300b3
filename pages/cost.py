"""What padding and packing cost: counted and measured, never mixed."""

from ui.parts.lesson import measured
from ui.views import costs

measured(
    "What does packing save?",
    "You pack to get correct results. Packing also skips the work on pads, but it is faster only for some batches.",
    ("measure", "sweep"),
    {
        "": costs.full_run,
        "Where does packing win here?": costs.landscape,
        "Counted": costs.counted,
        "Measured": costs.measured,
        "Less padding without packing": costs.without_packing,
        "Attention: cells and pairs of a query and a key": costs.attention,
    },
)
