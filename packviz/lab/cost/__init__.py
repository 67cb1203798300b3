"""What padding and packing cost: by count, in ms on this machine, and how to waste less without packing."""

from packviz.lab.cost.batching import Batching, How, batches, default_budget, token_budget, ways
from packviz.lab.cost.counts import Amount, Counts, counts, counts_of
from packviz.lab.cost.lengths import read_lengths
from packviz.lab.cost.machine_load import Strain
from packviz.lab.cost.measuring import Measurement, measure, verdict
from packviz.lab.cost.setup import Setup, devices
from packviz.lab.cost.sweeping import Point, Setting, draw_lengths, plan_sweep, reachable, sweep
from packviz.lab.cost.timing import Timing

__all__ = [
    "Amount",
    "Batching",
    "Counts",
    "How",
    "Measurement",
    "Point",
    "Setting",
    "Setup",
    "Strain",
    "Timing",
    "batches",
    "counts",
    "counts_of",
    "default_budget",
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
