"""Running: the programs of an entry, run as they are shown, and what a console says of each."""

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

from packviz.compute.determinism import seeded, with_onednn
from packviz.compute.record import Trace
from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from packviz.show.snippet import preparation
from packviz.teach.questions.entry import Entry

__all__ = ["Program", "Runner"]

_HOME = str(Path(torch.__file__).parent.parent)  # messages do not say where this machine has torch


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


class Runner:
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
    def wrong(self) -> Program:
        """The entry's program as people write it."""
        return self.run(self.entry.wrong)

    @cached_property
    def right(self) -> Program:
        """The entry's program that works."""
        return self.run(self.entry.right)

    def run(self, code: str) -> Program:
        """Run a program after the preparation, and return what came of it; what it raises is its ``error``."""
        names: dict[str, Any] = {}
        with seeded(self.entry.config.seed), with_onednn(False), _overheard() as said:
            exec(self.preparation, names)  # our own lines, none of a visitor's
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
