"""Padded beside packed: the same module with the same weights on both, and what differs between them."""

from packviz.compare.company import Company, company
from packviz.compare.comparison import compare
from packviz.compare.drifting import Drift, drift
from packviz.compare.gradients import Gradient, PadRowGradient
from packviz.compare.losses import Loss, Losses, losses
from packviz.compare.pads import Attention, Norms, Pooling, attention, norms, pooling
from packviz.compare.record import Comparison, Finding, Reading
from packviz.compare.switching import Switch, switches

__all__ = [
    "Attention",
    "Company",
    "Comparison",
    "Drift",
    "Finding",
    "Gradient",
    "Loss",
    "Losses",
    "Norms",
    "PadRowGradient",
    "Pooling",
    "Reading",
    "Switch",
    "attention",
    "company",
    "compare",
    "drift",
    "losses",
    "norms",
    "pooling",
    "switches",
]
