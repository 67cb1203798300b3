"""What follows from a trace, as plain records: readings, differences, addresses, pad drift, losses."""

from packviz.facts.address import Address, row_of, token_of
from packviz.facts.batch_dependence import BatchDependence, batch_dependence
from packviz.facts.comparison import Comparison, Finding, compare
from packviz.facts.distributions import (
    COUNT,
    DISTRIBUTIONS,
    Distribution,
    padding_cells,
    padding_share,
    padding_shares,
)
from packviz.facts.gradients import Gradient, PadRowGradient
from packviz.facts.initial_states import STARTS, Start, StartEffect, starts
from packviz.facts.losses import Loss, Losses, losses
from packviz.facts.memory_layout import Layout, Memory, memory, sequence_error
from packviz.facts.one_setting import Switch, switches
from packviz.facts.pad_collision import PadCollision, pad_collision
from packviz.facts.pad_drift import Drift, drift
from packviz.facts.padded_statistics import Attention, Norms, Pooling, attention, norms, pooling
from packviz.facts.reading import Reading
from packviz.facts.readouts import Readout, readouts
from packviz.facts.ties import Tie, first_unstable, order_of_equals, ties
from packviz.facts.torch_says import Field, behaviours, enforcing, fields, stack_errors, stacked_shape
from packviz.facts.unit_arithmetic import Formula, GateSum, Term, UnitSum, unit_sum
from packviz.facts.zero_vector import PadRow, ZeroStep, after_zero_vector, pad_row

__all__ = [
    "COUNT",
    "DISTRIBUTIONS",
    "STARTS",
    "Address",
    "Attention",
    "BatchDependence",
    "Comparison",
    "Distribution",
    "Drift",
    "Field",
    "Finding",
    "Formula",
    "GateSum",
    "Gradient",
    "Layout",
    "Loss",
    "Losses",
    "Memory",
    "Norms",
    "PadCollision",
    "PadRow",
    "PadRowGradient",
    "Pooling",
    "Reading",
    "Readout",
    "Start",
    "StartEffect",
    "Switch",
    "Term",
    "Tie",
    "UnitSum",
    "ZeroStep",
    "after_zero_vector",
    "attention",
    "batch_dependence",
    "behaviours",
    "compare",
    "drift",
    "enforcing",
    "fields",
    "first_unstable",
    "losses",
    "memory",
    "norms",
    "order_of_equals",
    "pad_collision",
    "pad_row",
    "padding_cells",
    "padding_share",
    "padding_shares",
    "pooling",
    "readouts",
    "row_of",
    "sequence_error",
    "stack_errors",
    "stacked_shape",
    "starts",
    "switches",
    "ties",
    "token_of",
    "unit_sum",
]
