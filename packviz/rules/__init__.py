"""What can be wrong with what was given: one list of rules, judged by one loop.

trace_module() raises the error of the first finding that has one; the doctor's examine() returns all findings. A rule
is a condition in the module of its subject, marked as @rule, and its words and repair in findings.toml.
"""

from collections.abc import Callable, Iterable, Iterator

from torch import Tensor

from packviz.rules import companions, data, module, packed_sequence, pads, readout, unpacked
from packviz.rules.case import Case, Rule
from packviz.rules.finding import Finding, worded
from packviz.rules.preconditions import check_traced

_KNOWN: dict[str, Callable[[Case, list[Finding]], bool]] = {
    "one each": lambda case, _: case.whole is not None and len(case.whole) == case.B,
    "lengths": lambda case, _: case.ends is not None,
    "end": lambda case, _: case.lengths is None or case.ends is not None,  # of the data: all of x without lengths
    "layout": lambda _, found: all(one.key != "batch_first" for one in found),
    "no error": lambda _, found: all(one.severity != "error" or one.key == "unsorted" for one in found),
}


# the subjects in the order of judgement; what a rule must have known has been judged by then
_SUBJECTS = (module, packed_sequence, data, pads, unpacked, companions, readout)
RULES = tuple(dict.fromkeys(one for subject in _SUBJECTS for one in vars(subject).values() if isinstance(one, Rule)))
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
