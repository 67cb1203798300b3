"""Laboratory: where the programs of an entry are run, as they are shown, and what each of them says."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from packviz.batch import Batch
from packviz.exactness import seeded, with_onednn
from packviz.questions.model import Entry
from packviz.record import Trace
from packviz.snippet import preparation
from packviz.trace import trace

__all__ = ["Laboratory", "Program"]

_HOME = str(Path(torch.__file__).parent.parent)  # where this machine has torch is nobody's business


@dataclass(frozen=True, eq=False)
class Program:
    """Hold a program that was run: its code, every name that it left, its last value, and what torch said.

    value     of the last line, where that is an expression; else None
    error     the last line of the traceback, "TypeError: ...", or None
    warnings  in order, "UserWarning: ..."
    """

    code: str
    names: Mapping[str, Any]
    value: Any = None
    error: str | None = None
    warnings: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        """Return what a name stands for after the run."""
        return self.names[name]

    @property
    def shown(self) -> str:
        """Return what a console shows after the program: warnings, then the value or the error."""
        ending = self.error or ("" if self.value is None else repr(self.value))
        return "\n".join([*self.warnings, *([ending] if ending else [])])


class Laboratory:
    """Run programs on an entry's batch, each from the same start: the same names, the same random numbers.

    The names are those of ``preparation``: torch, nn, pack_padded_sequence, pad_packed_sequence, pad_sequence,
    sequences, lengths, the module under its cell's name (rnn, gru, lstm), x, and for words embedding and ids.
    """

    def __init__(self, entry: Entry) -> None:
        self.entry = entry

    @cached_property
    def trace(self) -> Trace:
        """The run of the entry's batch, which its movie shows."""
        return trace(Batch.parse(self.entry.batch), self.entry.config)

    @cached_property
    def preparation(self) -> str:
        """The lines that make the names with which every program starts."""
        return preparation(self.trace)

    @cached_property
    def broken(self) -> Program:
        """The entry's program that does not do what is wanted."""
        return self.run(self.entry.broken)

    @cached_property
    def fixed(self) -> Program:
        """The entry's program that does."""
        return self.run(self.entry.fixed)

    def run(self, code: str, *, onednn: bool = False, **given: Any) -> Program:
        """Run a program after the preparation, and return what came of it.

        given: more names, under which the program finds objects. onednn: whether torch may use it.
        Nothing that is raised leaves here: it is the program's ``error``.
        """
        names: dict[str, Any] = {}
        with seeded(self.entry.config.seed), with_onednn(onednn), _overheard() as said:
            exec(self.preparation, names)  # our own lines, none of a visitor's
            names |= given
            said.clear()
            value, error = _done(code, names)
        return Program(code, names, value, error, tuple(dict.fromkeys(said)))


@contextmanager
def _overheard() -> Iterator[list[str]]:
    """Yield the warnings of this thread, as "UserWarning: ..."; not those of others, who share the filters."""
    said: list[str] = []
    here = threading.get_ident()

    def hear(message: Warning | str, category: type[Warning], *_: object) -> None:
        if threading.get_ident() == here:
            said.append(f"{category.__name__}: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = hear  # type: ignore[assignment]
        yield said


def _done(code: str, names: dict[str, Any]) -> tuple[Any, str | None]:
    """Run code in names; return the value of its last line, or how it ended."""
    tree = ast.parse(code)
    last = tree.body[-1] if tree.body else None
    try:
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(tree.body[:-1], []), "program", "exec"), names)
            return eval(compile(ast.Expression(last.value), "program", "eval"), names), None
        exec(compile(tree, "program", "exec"), names)
    except Exception as error:  # whatever torch raises is what is shown
        return None, f"{type(error).__name__}: {error}".replace(_HOME, "...")
    return None, None
