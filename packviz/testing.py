"""Assertions for your own tests; they fail with the doctor's report.

The error of assert_independent() and assert_isolated() has the picture of who changes whom, as `error.svg`.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from packviz.doctor import Findings, check_invariance, check_rows, check_samples, examine
from packviz.doctor.influence_picture import Checked

Arguments = ParamSpec("Arguments")


def _asserting(check: Callable[Arguments, Findings]) -> Callable[Arguments, None]:
    """Return the check as an assertion, with the same arguments."""

    @wraps(check, assigned=())
    def asserted(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        __tracebackhide__ = True  # pytest shows the line of the test
        found = check(*args, **kwargs)
        wrong = found.wrong
        if wrong:
            error = AssertionError(f"{wrong}")
            error.svg = found.svg() if isinstance(found, Checked) else ""  # type: ignore[attr-defined]
            raise error

    asserted.__doc__ = (
        f"""Fail with the report of {check.__name__}(), which takes the same arguments, unless all are notes."""
    )
    return asserted


assert_invariant, assert_packed = _asserting(check_invariance), _asserting(examine)
assert_independent, assert_isolated = _asserting(check_samples), _asserting(check_rows)
