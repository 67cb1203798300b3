"""Checks at the border of trace_module(): what torch would refuse, take silently, or crash on.

Each check raises PackvizError, or returns a copy of what it was given, so that a record cannot change later.
"""

from packviz.checks.evidence import check_kind, check_own_making
from packviz.checks.grid import check_grid
from packviz.checks.lengths import check_lengths, check_no_lengths, order_refusal
from packviz.checks.module import check_module
from packviz.checks.packed_sequence import check_packed_sequence
from packviz.checks.state import check_state
from packviz.checks.unpacking import check_padding_value, check_total_length

__all__ = [
    "check_grid",
    "check_kind",
    "check_lengths",
    "check_module",
    "check_no_lengths",
    "check_own_making",
    "check_packed_sequence",
    "check_padding_value",
    "check_state",
    "check_total_length",
    "order_refusal",
]
