"""What padding and packing cost: by count, in ms on this machine, and how to waste less without packing."""

from packviz.cost.batching import Batching, How, batches, default_budget, token_budget, ways
from packviz.cost.counts import Amount, Counts, counts, counts_of
from packviz.cost.measuring import Measurement, measure
from packviz.cost.reading import read_lengths
from packviz.cost.setup import Setup, devices
from packviz.cost.strain import Strain
from packviz.cost.sweeping import Point, Setting, draw_lengths, plan_sweep, reachable, sweep
from packviz.cost.timing import Timing
from packviz.cost.verdicts import verdict

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
