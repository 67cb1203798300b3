"""The one error that a user's input can cause: what was expected, what we got, how to fix it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from packviz.text import shown


class PackvizError(ValueError):
    """The error of a wrong input: which parameter was refused, what was expected of it, what we got, and how to fix it.

    The fields are parts of one sentence, without a full stop:
    ``expected`` and ``got`` as nouns ("an integer", "2.5"), ``fix`` as a request ("round it").

    >>> print(PackvizError("hidden_size", expected="an integer of at least 1", got="0", fix="choose 1 or more"))
    hidden_size: expected an integer of at least 1, but got 0. Choose 1 or more.
    """

    def __init__(self, parameter: str, *, expected: str, got: str, fix: str, torch_says: str | None = None) -> None:
        super().__init__(parameter, expected, got, fix, torch_says)
        self.parameter = parameter
        self.expected = expected
        self.got = got
        self.fix = fix
        self.torch_says = torch_says

    @property
    def sentence(self) -> str:
        """Return the message without the parameter's name, for places where the name is obvious."""
        torch_part = f' (torch: "{self.torch_says}")' if self.torch_says else ""
        return f"Expected {self.expected}, but got {self.got}{torch_part}. {self.fix[:1].upper()}{self.fix[1:]}."

    def __str__(self) -> str:
        return f"{self.parameter}: {self.sentence[0].lower()}{self.sentence[1:]}"

    def __reduce__(self) -> tuple[object, ...]:
        parts = {name: getattr(self, name) for name in ("expected", "got", "fix", "torch_says")}
        return partial(type(self), self.parameter, **parts), (), self.__dict__


class UnreadAnswerError(PackvizError):
    """The error of an answer that cannot be read as what is asked for.

    >>> print(UnreadAnswerError("answer", expected="whole numbers", got="'many'", fix="type digits, such as 7 7 7"))
    answer: we cannot read 'many' as whole numbers. Type digits, such as 7 7 7.
    """

    @property
    def sentence(self) -> str:
        """Return the message without the parameter's name."""
        return f"We cannot read {self.got} as {self.expected}. {self.fix[:1].upper()}{self.fix[1:]}."


def refusal_of(name: str, expected: str, got: object, fix: str) -> PackvizError:
    """Return the error for a value that is not what was expected."""
    return PackvizError(name, expected=expected, got=shown(got), fix=fix)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type if it has none; of TorchScript's errors the last line.

    TorchScript puts its own traceback before the message.
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].strip() if "TorchScript" in lines[0] else lines[0]


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Replace a missing import inside the block by an ImportError that names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        raise ImportError(f'{package} is not installed. Fix: pip install "packviz[{name}]".', name=package) from None
