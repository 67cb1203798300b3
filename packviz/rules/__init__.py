"""What can be wrong with what was given: one list of rules, judged by one loop.

trace_module() raises the error of the first finding that has one; the doctor's examine() returns all findings. A rule
is a condition in the module of its subject, a row in RULES, and its words and repair in findings.toml.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from torch import Tensor

from packviz.rules.case import Case
from packviz.rules.companions import mask, output, target_lengths, targets
from packviz.rules.finding import Fault, Finding, worded
from packviz.rules.lengths import (
    form,
    fractional,
    missing,
    order,
    order_refusal,
    shares,
    too_long,
    too_short,
    wrong_count,
)
from packviz.rules.module import (
    check_module,
    check_padding_value,
    check_total_length,
    check_weights,
    data,
    dropout,
    empty_or_flat,
    initial_state,
    state_of,
)
from packviz.rules.packed_sequence import fields, lengths_beside
from packviz.rules.pads import not_finite, packed_data, pads
from packviz.rules.preconditions import check_beside, check_kind, check_subject, check_traced, described, frozen_copy
from packviz.rules.readout import readout

__all__ = [
    "RULES",
    "Case",
    "Finding",
    "Rule",
    "check_beside",
    "check_kind",
    "check_module",
    "check_padding_value",
    "check_subject",
    "check_total_length",
    "check_weights",
    "described",
    "findings",
    "frozen_copy",
    "order_refusal",
    "raise_first",
    "state_of",
]


@dataclass(frozen=True)
class Rule:
    """Hold a condition, and when it is asked.

    given    what the case must have: its fields, "grid" or "packed", and "numbers" where none is on the meta device
    known    what must be known by then: see _KNOWN
    stops    whether nothing after it can be judged where it finds something
    refuses  whether trace_module() refuses what it finds
    """

    condition: Callable[[Case], Iterable[Fault]]
    given: frozenset[str]
    known: tuple[str, ...] = ()
    stops: bool = False
    refuses: bool = False


_KNOWN: dict[str, Callable[[Case, list[Finding]], bool]] = {
    "lengths": lambda case, _: case.ends is not None,
    "end": lambda case, _: case.lengths is None or case.ends is not None,  # of the data: all of x without lengths
    "layout": lambda _, found: all(one.key != "batch_first" for one in found),
    "no error": lambda _, found: all(one.severity != "error" or one.key == "unsorted" for one in found),
}


def _rule(condition: Callable[[Case], Iterable[Fault]], given: str, *known: str, **flags: bool) -> Rule:
    return Rule(condition, frozenset(given.split()), known, **flags)


RULES = (
    _rule(dropout, "module"),
    _rule(empty_or_flat, "grid", stops=True, refuses=True),
    _rule(fields, "packed", stops=True, refuses=True),
    _rule(data, "module", refuses=True),
    _rule(missing, "grid", refuses=True),
    _rule(form, "grid lengths", refuses=True),
    _rule(shares, "grid lengths", refuses=True),
    _rule(fractional, "grid lengths", refuses=True),
    _rule(wrong_count, "grid lengths", refuses=True),
    _rule(too_short, "grid lengths", refuses=True),
    _rule(too_long, "grid lengths", refuses=True),
    _rule(order, "grid lengths"),
    _rule(lengths_beside, "packed lengths numbers"),
    _rule(packed_data, "packed numbers"),
    _rule(pads, "grid lengths numbers", "lengths"),
    _rule(not_finite, "grid numbers", "end", "layout"),
    _rule(mask, "mask", "lengths", "layout"),
    _rule(targets, "targets", "lengths", "layout"),
    _rule(target_lengths, "target_lengths", "lengths", "layout"),
    _rule(output, "grid output", "lengths", "layout"),
    _rule(initial_state, "module hx", "layout", refuses=True),
    _rule(readout, "state", "lengths", "layout", "no error"),
)
_FIELDS = ("packed", "lengths", "module", "hx", "mask", "targets", "target_lengths", "output", "state")


def _given(case: Case) -> set[str]:
    given = {name for name in _FIELDS if getattr(case, name) is not None}
    tensors = (case.x,) if case.packed is None else case.packed
    if not any(isinstance(one, Tensor) and one.device.type == "meta" for one in tensors):
        given.add("numbers")
    return given if case.packed is not None else given | {"grid"}


def findings(case: Case, rules: Iterable[Rule] = RULES) -> Iterator[Finding]:
    """Judge a case by one rule after the other, and yield what they find."""
    given, found = _given(case), list[Finding]()
    for rule in rules:
        if not rule.given <= given or (rule.known and not all(_KNOWN[name](case, found) for name in rule.known)):
            continue
        before = len(found)
        for fault in rule.condition(case):
            found.append(worded(fault, case))
            yield found[-1]
        if rule.stops and len(found) > before:
            return


def raise_first(case: Case) -> None:
    """Raise the PackvizError of the first finding that trace_module() refuses."""
    check_traced(case)
    rules = [rule for rule in RULES if rule.refuses]
    for finding in findings(case, rules):
        if finding.error is not None:
            raise finding.error
