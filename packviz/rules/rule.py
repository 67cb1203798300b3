"""A rule: a condition, and when it is asked. Its words and its repair stand in findings.toml."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from packviz.rules.case import Case
from packviz.rules.finding import Fault

__all__ = ["Rule", "rule"]

Condition = Callable[[Case], Iterable[Fault]]


@dataclass(frozen=True)
class Rule:
    """Hold a condition, and when it is asked."""

    condition: Condition
    # what the case must have: its fields, "grid" or "packed", and "numbers" where none is on the meta device
    given: frozenset[str]
    # what must be known by then: the "lengths", where the data "end", that the "layout" is right, "no error"
    known: tuple[str, ...] = ()
    stops: bool = False  # whether nothing after it can be judged where it finds something
    refuses: bool = False  # whether trace_module() refuses what it finds


def rule(given: str, *known: str, stops: bool = False, refuses: bool = False) -> Callable[[Condition], Rule]:
    """Make a rule of a condition; given: words, separated by spaces. The rest is as in Rule."""

    def made(condition: Condition) -> Rule:
        return Rule(condition, frozenset(given.split()), known, stops, refuses)

    return made
