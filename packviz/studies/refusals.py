"""What Python and torch say when they refuse: the last line of the traceback, from a real call."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["refusal"]


def refusal(call: Callable[[], object]) -> str | None:
    """Return what a call raises, as the last line of a traceback shows it; None where it raises nothing."""
    try:
        call()
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return None
