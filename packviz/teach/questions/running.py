"""Running: the programs of an entry, run as shown; the judging block on their results; and the explanation.

A judging block starts with the names that every program starts with (torch, nn, x, lengths, sequences, the module),
and with these:

wrong, right   the two programs after running: wrong["name"], wrong.value, wrong.error, wrong.warnings
run            run(code): run another program from the same start
trace          the run of the entry's batch; retrace(bidirectional=True) for another one
holds          to be filled: holds["with bias=True"] = whether the claim holds in that case
show           show(grid(...), strip(...), numbers(...)) or show(margins, trace): the picture

and with everything that panels.py offers. Whatever the explanation assumes beyond the verdict is asserted: if an
assertion fails, or an error of a kind that torch raises comes up (RuntimeError, ValueError, IndexError), or the verdict
is not the one in the file, the explanation is not shown. Any other error of the block is a mistake in it and is logged.
"""

import ast
import logging
import os
import pickle
import re
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from jinja2 import Environment, StrictUndefined
from torch import Size, Tensor

from packviz.compute.determinism import seeded, with_onednn
from packviz.compute.record import Trace
from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from packviz.inputs.torch_answers import overheard
from packviz.show.charts.panels import panels
from packviz.show.snippet import preparation
from packviz.teach.questions.entry import Entry, Verdict
from packviz.teach.questions.panels import OFFERED
from packviz.text import Brief, counted, joined, percent, two_digits

__all__ = ["FAILED", "OTHERWISE", "Chart", "EntryResult", "Program", "answer", "answer_apart", "written"]

OTHERWISE = (
    "With this version of PyTorch the programs no longer do what they did when this answer was written, so the "
    "explanation is left out. What they did now is shown below."
)
FAILED = (
    "The check of this answer failed with an error of its own, so the explanation is left out. What the programs did "
    "is shown below. Please report this error; its details are in the log of the server."
)
_LOG = logging.getLogger("packviz")
_HOME = str(Path(torch.__file__).parent.parent)  # messages do not reveal where torch is installed


@dataclass(frozen=True, eq=False, repr=False)
class Program(Brief):
    """A program that was run: its code, every name that it defined, its last value, and torch's messages."""

    code: str
    names: Mapping[str, Any]
    value: Any = None  # of the last line, if that is an expression; else None
    printed: str = ""  # the value as a console shows it
    error: str | None = None  # the last line of the traceback, "TypeError: ...", or None
    warnings: tuple[str, ...] = ()  # in order, "UserWarning: ..."

    def __getitem__(self, name: str) -> Any:
        """Return the value of a name after the run; raises AssertionError if the program did not get that far."""
        assert name in self.names, f"the program defined no {name}"
        return self.names[name]

    @property
    def shown(self) -> str:
        """Return what a console would show after the program: warnings, then the value or the error."""
        ending = self.error or self.printed
        return "\n".join([*self.warnings, *([ending] if ending else [])])


@dataclass(frozen=True, eq=False, repr=False)
class Chart(Brief):
    """A function of packviz.charts and its arguments, without the palette."""

    draw: Callable[..., Any]
    of: tuple[Any, ...]


@dataclass(frozen=True, eq=False, repr=False)
class EntryResult(Brief):
    """The result of running an entry."""

    entry: Entry
    trace: Trace  # the run of its batch
    preparation: str  # the lines before both programs, which define the names that they start with
    wrong: Program
    right: Program
    # whether the claim held, case by case; each name follows "holds" or "does not hold": "with bias=True", "in the
    # forward half". Empty if nothing could be run here
    cases: Mapping[str, bool]
    explanation: str  # in Markdown, with the numbers just computed
    chart: Chart | None  # the picture, if it is made from the results; else the entry has a film
    failure: str = ""  # the traceback if the judging block failed, other than by an assertion or an error of torch

    @property
    def is_explained(self) -> bool:
        """Return whether the explanation is the entry's own, and not a sentence on why it is left out."""
        return self.explanation not in (OTHERWISE, FAILED)

    @property
    def verdict(self) -> Verdict:
        """Return true if the claim held in every case, false if in none, depends if in some; cited without cases."""
        held = set(self.cases.values())
        if not held:
            return "cited"
        return "depends" if len(held) == 2 else "true" if held == {True} else "false"

    @property
    def depends_on(self) -> str:
        """Return in which cases the claim held and in which it did not; "" if there is one answer."""
        if self.verdict != "depends":
            return ""
        held, failed = ([name for name, holds in self.cases.items() if holds == wanted] for wanted in (True, False))
        return f"The claim holds {'; '.join(held)}. It fails {'; '.join(failed)}."


def answer(entry: Entry) -> EntryResult:
    """Run an entry's programs, judge them, and return the result."""
    batch = Batch.parse(entry.batch)
    shown = trace(batch, entry.config)
    before = preparation(shown)

    def run(code: str) -> Program:
        return _run(before, code, entry)

    def show(first: Any, *others: Any) -> None:
        of = (first, others) if callable(first) else (panels, ((first, *others),))
        pictures.append(Chart(*of))

    wrong, right, pictures = run(entry.wrong), run(entry.right), list[Chart]()
    names = {
        **OFFERED,
        **run("").names,
        "wrong": wrong,
        "right": right,
        "run": run,
        "trace": shown,
        "retrace": lambda **settings: trace(batch, replace(entry.config, **settings)),
        "holds": {},
        "show": show,
    }
    as_written, failure = True, ""
    try:
        exec(compile(entry.judge, f"{entry.key}.md, judge", "exec"), names)
    except (AssertionError, RuntimeError, ValueError, IndexError):  # with another torch version, which raises these
        as_written = False
    except Exception:
        as_written, failure = False, traceback.format_exc()
        _log(entry, failure)
    cases = {name: bool(held) for name, held in names["holds"].items()}
    chart, instead = pictures[-1] if pictures else None, FAILED if failure else OTHERWISE
    done = EntryResult(entry, shown, before, wrong, right, cases, instead, chart, failure)
    if as_written and entry.verdict in ("varies", done.verdict):
        return replace(done, explanation=_JINJA.from_string(entry.explanation).render(names))
    return done


def answer_apart(entry: Entry) -> EntryResult:
    """Run an entry in a process of its own, so that no other thread waits for it.

    Its programs come back without values, only with what they showed. Raises RuntimeError if that process fails.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answer"
        call = [sys.executable, "-m", "packviz.teach.questions", entry.key, str(path)]
        done = subprocess.run(
            call,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
            capture_output=True,
        )
        if not path.exists():
            raise RuntimeError(f"{entry.key}: {done.stderr.decode(errors='replace')}")
        found: EntryResult = pickle.loads(path.read_bytes())
    if found.failure:
        _log(entry, found.failure)  # what the process itself has logged is lost
    return replace(found, entry=entry)


def _log(entry: Entry, failure: str) -> None:
    _LOG.error("The judging block of %s.md failed:\n%s", entry.key, failure)


def _run(before: str, code: str, entry: Entry) -> Program:
    """Run a program after the preparation, with the entry's seed; what it raises becomes its ``error``."""
    names: dict[str, Any] = {}
    value, error, last, tree = None, None, None, ast.parse(code)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body[-1].value)
        del tree.body[-1]
    with seeded(entry.config.seed), with_onednn(entry.onednn), overheard() as said:  # the lock for warnings comes last
        exec(before, names)  # our own lines, never a visitor's
        said.clear()
        try:
            exec(compile(tree, "program", "exec"), names)
            if last is not None:
                value = eval(compile(last, "program", "eval"), names)
        except Exception as raised:  # whatever torch raises is what is shown
            error = f"{type(raised).__name__}: {raised}".replace(_HOME, "...")
    printed = "" if value is None else repr(value)
    return Program(code, names, value, printed, error, tuple(dict.fromkeys(said)))


def written(value: object) -> str:
    """Return a value as written in a sentence: 0.42, 3e-8, [1, 2, 3], (3, 1), "A and B"."""
    if isinstance(value, Tensor):
        value = value.detach().tolist()
    if isinstance(value, float):
        number = f"{value:z.0f}" if value == int(value) else two_digits(value)
        return re.sub("^-", "−", number)
    if isinstance(value, Size | tuple):
        return f"({', '.join(map(written, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return joined(value)
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return str(value)


def _count(number: int | Tensor | Sequence[object], noun: str) -> str:
    """Return "1 row" or "2 rows", also for things that have to be counted first."""
    return counted(int(number) if isinstance(number, int | Tensor) else len(number), noun)


_JINJA = Environment(undefined=StrictUndefined, finalize=written)
_JINJA.filters |= {"count": _count, "percent": lambda share: percent(float(share))}
_JINJA.globals |= {each.__name__: each for each in (abs, enumerate, float, int, len, max, min, sorted, sum, zip)}
