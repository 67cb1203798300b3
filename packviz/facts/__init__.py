"""What follows from a trace, as plain records: readouts, differences, addresses, pad drift, losses."""

from packviz.facts.comparison import Comparison, Switch, compare, switches
from packviz.facts.distributions import DISTRIBUTIONS, Distribution, padding_cells, padding_share, padding_shares
from packviz.facts.initial_states import STARTS, StartEffect, starts
from packviz.facts.losses import Losses, losses
from packviz.facts.memory_layout import (
    Address,
    Layout,
    Memory,
    indices_outweigh,
    memory,
    row_of,
    sequence_error,
    token_of,
)
from packviz.facts.padded_run import batch_dependence
from packviz.facts.padded_statistics import attention, norms, pooling
from packviz.facts.pads import Drift, ZeroStep, after_zero_vector, drift, pad_collision, pad_row
from packviz.facts.readouts import Readout, readouts
from packviz.facts.ties import first_unstable, order_of_equals, ties
from packviz.facts.torch_says import behaviours, enforcing, fields, stack_errors, stacked_shape
from packviz.facts.unit_arithmetic import GateSum, UnitSum, unit_sum

__all__ = [
    "DISTRIBUTIONS",
    "STARTS",
    "Address",
    "Comparison",
    "Distribution",
    "Drift",
    "GateSum",
    "Layout",
    "Losses",
    "Memory",
    "Readout",
    "StartEffect",
    "Switch",
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
    "indices_outweigh",
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
