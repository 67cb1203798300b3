"""What can be wrong with what was typed or handed over: one list of rules.

A rule returns findings. trace_module() raises the error of the first that has one, and keeps a copy of what it was
given, so that a record cannot change later; the doctor's examine() returns them all.
"""

from packviz.rules.case import Case
from packviz.rules.evidence import check_kind
from packviz.rules.lengths import lengths_of, order_refusal
from packviz.rules.module import check_module, check_weights
from packviz.rules.module_input import grid_of
from packviz.rules.packed_sequence import packed_of
from packviz.rules.state import state_of
from packviz.rules.unpacking import check_padding_value, check_total_length

__all__ = [
    "Case",
    "check_kind",
    "check_module",
    "check_padding_value",
    "check_total_length",
    "check_weights",
    "grid_of",
    "lengths_of",
    "order_refusal",
    "packed_of",
    "state_of",
]
