"""Small experiments on a batch or a trace: torch computes, a frozen record of plain values comes back."""

from packviz.studies.address import Address, row_of, token_of
from packviz.studies.confusion import Confusion, confusion
from packviz.studies.distributions import (
    COUNT,
    DISTRIBUTIONS,
    Distribution,
    padding_cells,
    padding_share,
    padding_shares,
)
from packviz.studies.enforcing import enforcing
from packviz.studies.fields import Field, behaviours, fields
from packviz.studies.gates import GateSum, Term
from packviz.studies.memory import Layout, Memory, memory, sequence_error
from packviz.studies.readouts import Readout, readouts
from packviz.studies.refusals import refusal
from packviz.studies.stacking import stack_errors, stacked_shape
from packviz.studies.starts import STARTS, Start, StartEffect, starts
from packviz.studies.sums import Formula, UnitSum, unit_sum
from packviz.studies.ties import Tie, first_unstable, order_of_equals, ties
from packviz.studies.zero_vector import PadRow, ZeroStep, after_zero_vector, pad_row

__all__ = [
    "COUNT",
    "DISTRIBUTIONS",
    "STARTS",
    "Address",
    "Confusion",
    "Distribution",
    "Field",
    "Formula",
    "GateSum",
    "Layout",
    "Memory",
    "PadRow",
    "Readout",
    "Start",
    "StartEffect",
    "Term",
    "Tie",
    "UnitSum",
    "ZeroStep",
    "after_zero_vector",
    "behaviours",
    "confusion",
    "enforcing",
    "fields",
    "first_unstable",
    "memory",
    "order_of_equals",
    "pad_row",
    "padding_cells",
    "padding_share",
    "padding_shares",
    "readouts",
    "refusal",
    "row_of",
    "sequence_error",
    "stack_errors",
    "stacked_shape",
    "starts",
    "ties",
    "token_of",
    "unit_sum",
]
