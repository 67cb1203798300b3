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

# What a rule may need beside fields of the case: of the case itself, and of what was found before.
_NEEDS: dict[str, Callable[[Case, list[Finding]], bool]] = {
    "numbers": lambda case, _: not any(isinstance(one, Tensor) and one.is_meta for one in case.packed or (case.x,)),
    "valid_lengths": lambda case, _: bool(case.valid_lengths),
    "one_each": lambda case, _: case.whole_lengths is not None and len(case.whole_lengths) == case.B,
    "no_wrong_lengths": lambda case, _: case.lengths is None or bool(case.valid_lengths),
    "layout": lambda _, found: all(one.key != "batch_first" for one in found),
    "no_error": lambda _, found: all(one.severity != "error" or one.key == "unsorted" for one in found),
}

# the subjects in the order of judgement
_SUBJECTS = (module, packed_sequence, data, pads, unpacked, companions, readout)
RULES = tuple(dict.fromkeys(one for subject in _SUBJECTS for one in vars(subject).values() if isinstance(one, Rule)))


def findings(case: Case, rules: Iterable[Rule] = RULES) -> Iterator[Finding]:
    """Judge a case by one rule after the other, and yield what they find."""
    given, found = {name for name, value in vars(case).items() if value is not None}, list[Finding]()
    for rule in rules:
        if rule.fields <= given and (not rule.needs or all(_NEEDS[name](case, found) for name in rule.needs)):
            before = len(found)
            for fault in rule.condition(case):
                found.append(worded(fault, case))
                yield found[-1]
            if rule.stops and len(found) > before:
                return


def raise_first(case: Case) -> None:
    """Raise the PackvizError of the first finding that trace_module() refuses."""
    check_traced(case)
    for finding in findings(case, [rule for rule in RULES if rule.refuses]):
        if finding.error is not None:
            raise finding.error
