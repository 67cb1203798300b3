"""What padding and packing cost: counted and measured, never mixed."""

from ui import costs
from ui.lesson import measured
from ui.part import part
from ui.runs import Shown


def sections(shown: Shown) -> None:
    """Say what stands on the page."""
    with part("Counted", "Cell updates and sequential steps of this batch; bytes of its inputs and outputs."):
        costs.counted(shown)
    with part(
        "Measured", "Milliseconds on the machine that runs this app: medians of runs in turns, with their spread."
    ):
        costs.measured(shown)
    with part("Where does packing win?", "Fill against another size; below 1 packing is faster, above it slower."):
        costs.landscape(shown)
    with part("Less padding without packing", "Batches of similar lengths waste less, whatever runs on them."):
        costs.without_packing(shown)


measured(
    "What does packing save?",
    "Three numbers that are not the same: how many cells are computed, how many steps wait for one another, and "
    "how long it takes here.",
    "measure sweep",
    sections,
)
