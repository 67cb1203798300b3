"""The lines of the report: what was measured, its target, and whether the target is met."""

from dataclasses import dataclass

_COLUMNS = "{:<66} {:>9}  {:<13}  {:<7}  {}"


@dataclass(frozen=True)
class Measured:
    """One line of the report.

    measured: a ratio, or a number in the unit that `what` names. how: how it was measured. at_most, at_least: the
    target; None for both if there is none.
    """

    what: str
    measured: float
    how: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def verdict(self) -> str:
        """Return whether the target is met, in a word; "" if there is none. NaN never meets one."""
        if self.at_most is None and self.at_least is None:
            return ""
        low, high = self.at_least, self.at_most
        met = (low is None or self.measured >= low) and (high is None or self.measured <= high)
        return "met" if met else "missed"

    def __str__(self) -> str:
        bounds = {"at most": self.at_most, "at least": self.at_least}
        target = next((f"{name} {bound:,g}" for name, bound in bounds.items() if bound is not None), "no target")
        number = f"{self.measured:,.{2 if self.measured < 10 else 1 if self.measured < 1000 else 0}f}"
        return _COLUMNS.format(self.what, number, target, self.verdict, self.how)


def heading() -> str:
    """Return the header line."""
    return _COLUMNS.format("what", "measured", "target", "", "how")
