"""What padding and packing cost: by count, in ms on this machine, and how to waste less without packing."""

from packviz.lab.cost.counting import (
    Amount,
    Batching,
    Counts,
    How,
    batches,
    counts,
    counts_of,
    token_budget,
    ways,
)
from packviz.lab.cost.lengths import draw_lengths, reachable, read_lengths
from packviz.lab.cost.measuring import Measurement, Point, Timing, measure, sweep, verdict
from packviz.lab.cost.setup import Setting, Setup, devices, plan_sweep

__all__ = [
    "Amount",
    "Batching",
    "Counts",
    "How",
    "Measurement",
    "Point",
    "Setting",
    "Setup",
    "Timing",
    "batches",
    "counts",
    "counts_of",
    "devices",
    "draw_lengths",
    "measure",
    "plan_sweep",
    "reachable",
    "read_lengths",
    "sweep",
    "token_budget",
    "verdict",
    "ways",
]
