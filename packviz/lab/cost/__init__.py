"""What padding and packing cost: by count, in ms on this machine, and how to waste less without packing."""

from packviz.lab.cost.counting import Amount, Batching, Counts, counts, counts_of, ways
from packviz.lab.cost.lengths import draw_lengths, read_lengths
from packviz.lab.cost.measuring import Measurement, Point, Timing, measure, sweep, verdict
from packviz.lab.cost.setup import Setting, Setup, devices, plan_sweep, setups_of

__all__ = [
    "Amount",
    "Batching",
    "Counts",
    "Measurement",
    "Point",
    "Setting",
    "Setup",
    "Timing",
    "counts",
    "counts_of",
    "devices",
    "draw_lengths",
    "measure",
    "plan_sweep",
    "read_lengths",
    "setups_of",
    "sweep",
    "verdict",
    "ways",
]
