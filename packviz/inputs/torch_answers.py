"""What torch does with a call: what it returns, or what it raises."""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import torch

from packviz.errors import first_line

Result = TypeVar("Result")

# Of the filters for warnings, which belong to the whole process; taken after that of packviz/compute/determinism.py.
_LOCK = threading.RLock()


@dataclass(frozen=True, eq=False)
class Answer(Generic[Result]):
    """What a call returned, or the error that it raised; unasked: why the call was not made."""

    result: Result | None = None
    error: Exception | None = None
    unasked: str = ""

    @property
    def message(self) -> str | None:
        """Return the first line of the error's message, or None."""
        return None if self.error is None else first_line(self.error)

    @property
    def last_line(self) -> str | None:
        """Return the error as the last line of a traceback shows it, or None."""
        return None if self.error is None else f"{type(self.error).__name__}: {self.error}"

    @property
    def severity(self) -> Literal["error", "silent"]:
        """Return "silent" if torch raised no error; "error" also for a call that it might not have survived."""
        return "error" if self.error or self.unasked else "silent"

    def does(self, silently: str | Callable[[Result], str]) -> str:
        """Return 'raises RuntimeError: "..."', or what `silently` says of the result."""
        if self.unasked:
            return f"was not called: {self.unasked}"
        if self.error is not None:
            return f'raises {type(self.error).__name__}: "{self.message}"'
        return silently if isinstance(silently, str) else silently(self.result)  # type: ignore[arg-type]


@contextmanager
def filtered(action: Literal["always", "ignore"]) -> Iterator[None]:
    """Show all warnings, or none, and let no other thread change that meanwhile; then as before."""
    with _LOCK, warnings.catch_warnings():
        warnings.simplefilter(action)
        yield


@contextmanager
def overheard() -> Iterator[list[str]]:
    """Yield this thread's warnings as "UserWarning: ...", not those of other threads, which share the filters."""
    said: list[str] = []
    here = threading.get_ident()

    def hear(message: Warning | str, category: type[Warning], *_: object) -> None:
        if threading.get_ident() == here:
            said.append(f"{category.__name__}: {message}")

    with filtered("always"):
        warnings.showwarning = hear  # type: ignore[assignment]
        yield said


def ask(call: Callable[[], Result]) -> Answer[Result]:
    """Make a call to torch without gradients and return what it does; its warnings are not shown."""
    with torch.no_grad(), filtered("ignore"):
        try:
            return Answer(call())
        except Exception as error:  # torch may raise any of them
            return Answer(error=error)
