"""Assertions for your own tests; they fail with the doctor's report."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from packviz.doctor import Findings, check_invariance, examine

Arguments = ParamSpec("Arguments")


def _asserting(check: Callable[Arguments, Findings]) -> Callable[Arguments, None]:
    """Return the check as an assertion, with the same arguments."""

    @wraps(check, assigned=())
    def asserted(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        __tracebackhide__ = True  # pytest shows the line of the test
        wrong = check(*args, **kwargs).wrong
        if wrong:
            raise AssertionError(f"{wrong}")

    asserted.__doc__ = (
        f"""Fail with the report of {check.__name__}(), which takes the same arguments, unless all are notes."""
    )
    return asserted


assert_invariant, assert_packed = _asserting(check_invariance), _asserting(examine)
