"""The lines of the report: what was measured, what was promised, and whether the promise is kept."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Line", "Target", "at_least", "at_most", "heading"]

_COLUMNS = "{:<66} {:>9}  {:<13}  {:<7}  {}"


@dataclass(frozen=True)
class Target:
    """A bound that a number has to keep."""

    bound: Literal["at least", "at most"]
    number: float

    def met_by(self, measured: float) -> bool:
        """Return whether the number keeps the bound; a number that is not one does not."""
        return measured >= self.number if self.bound == "at least" else measured <= self.number

    def __str__(self) -> str:
        return f"{self.bound} {self.number:g}"


def at_least(number: float) -> Target:
    """Return a bound from below."""
    return Target("at least", number)


def at_most(number: float) -> Target:
    """Return a bound from above."""
    return Target("at most", number)


@dataclass(frozen=True)
class Line:
    """One line of the report.

    measured: a ratio, or a number in the unit that `what` names. target: None where nothing is promised.
    how: how the number was got.
    """

    what: str
    measured: float
    target: Target | None
    how: str

    @property
    def verdict(self) -> str:
        """Say whether the target is met; nothing where there is none."""
        if self.target is None:
            return ""
        return "met" if self.target.met_by(self.measured) else "missed"

    def __str__(self) -> str:
        target = "no target" if self.target is None else str(self.target)
        return _COLUMNS.format(self.what, _short(self.measured), target, self.verdict, self.how)


def heading() -> str:
    """Return the line above the lines."""
    return _COLUMNS.format("what", "measured", "target", "", "how")


def _short(number: float) -> str:
    return f"{number:.2f}" if number < 10 else f"{number:,.1f}"
