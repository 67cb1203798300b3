"""The one error that a user's input can cause: what came, what was expected, how to mend it."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["PackvizError", "first_line"]


class PackvizError(ValueError):
    """Say which parameter was refused, what was expected of it, what came, and how to mend it.

    The fields are parts of one sentence, so they read best as they stand there, without a full stop:
    ``expected`` and ``came`` as nouns ("a whole number", "2.5"), ``mend`` as a request ("round it").

    >>> print(PackvizError("hidden_size", expected="a whole number of at least 1", came="0", mend="choose 1 or more"))
    hidden_size: expected a whole number of at least 1, but got 0. Choose 1 or more.
    """

    def __init__(self, parameter: str, *, came: str, expected: str, mend: str, torch_says: str | None = None) -> None:
        super().__init__(parameter, came, expected, mend, torch_says)
        self.parameter = parameter
        self.came = came
        self.expected = expected
        self.mend = mend
        self.torch_says = torch_says

    @property
    def sentence(self) -> str:
        """Return the message without the parameter's name, for a place where that is plain to see."""
        torch_part = f' (torch: "{self.torch_says}")' if self.torch_says else ""
        return f"Expected {self.expected}, but got {self.came}{torch_part}. {self.mend[:1].upper()}{self.mend[1:]}."

    def __str__(self) -> str:
        return f"{self.parameter}: e{self.sentence[1:]}"

    def __reduce__(self) -> tuple[Callable[..., PackvizError], tuple[str | None, ...]]:
        return _rebuilt, (self.parameter, self.came, self.expected, self.mend, self.torch_says)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type where it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _rebuilt(parameter: str, came: str, expected: str, mend: str, torch_says: str | None) -> PackvizError:
    return PackvizError(parameter, came=came, expected=expected, mend=mend, torch_says=torch_says)
