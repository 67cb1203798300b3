"""Judging: run the judging block of an entry, and write its explanation with the numbers that were computed.

A judging block starts with the names that every program starts with (torch, nn, x, lengths, sequences, the module),
and with these:

wrong, right   the two programs as they ran: wrong["name"], wrong.value, wrong.error, wrong.warnings
run            run(code): run another program from the same start
trace          the run of the entry's batch; retrace(bidirectional=True) for another one
holds          to be filled: holds["with bias=True"] = whether the claim holds there
show           show(grid(...), strip(...), numbers(...)) or show(margins, trace): the picture

and with everything that `panels` offers. What the explanation takes for granted beyond the verdict is
asserted: where an assertion fails, or the verdict is another one than the file says, the explanation is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import Environment, StrictUndefined
from torch import Size, Tensor

from packviz.compute.record import Trace
from packviz.compute.trace import trace
from packviz.teach.questions import panels
from packviz.teach.questions.entry import Chart, Entry, Outcome
from packviz.teach.questions.running import Program, Runner
from packviz.text import counted, joined, percent

__all__ = ["Answer", "answer", "written"]

OTHERWISE = (
    "With this version of PyTorch the programs did not do what they did when this answer was written, so its "
    "explanation is left out. What they did is shown below."
)


@dataclass(frozen=True, eq=False)
class Answer:
    """Hold what came of an entry: the run of its batch, the lines before both programs, both, and the outcome."""

    entry: Entry
    trace: Trace
    preparation: str
    wrong: Program
    right: Program
    outcome: Outcome


def answer(entry: Entry) -> Answer:
    """Run an entry's programs now, judge them, and return what they have shown."""
    runner = Runner(entry)
    return Answer(entry, runner.trace, runner.preparation, runner.wrong, runner.right, _judged(runner))


def _judged(runner: Runner) -> Outcome:
    """Run the judging block on what the programs did, and write the explanation."""
    entry, pictures = runner.entry, list[Chart]()
    names = {
        **{name: getattr(panels, name) for name in panels.__all__},
        **runner.run("").names,
        "wrong": runner.wrong,
        "right": runner.right,
        "run": runner.run,
        "trace": runner.trace,
        "retrace": lambda **settings: _retraced(runner, settings),
        "holds": {},
        "show": lambda *shown: pictures.append(_picture(shown)),
    }
    try:
        exec(compile(entry.judge, f"{entry.key}.md, judge", "exec"), names)
    except (
        Exception
    ):  # an assertion, or what a program left undone: no entry does this with the torch it was written for
        as_written = False
    else:
        as_written = True
    holds = {name: bool(held) for name, held in names["holds"].items()}
    outcome = Outcome(holds, OTHERWISE, pictures[-1] if pictures else None)
    if as_written and entry.verdict in ("varies", outcome.verdict):
        return replace(outcome, told=_JINJA.from_string(entry.explanation).render(names))
    return outcome


def _retraced(runner: Runner, settings: dict[str, Any]) -> Trace:
    batch = runner.trace.batch
    assert batch is not None
    return trace(batch, replace(runner.entry.config, **settings))


def _picture(shown: Sequence[Any]) -> Chart:
    if callable(shown[0]):
        draw: Callable[..., Any] = shown[0]
        return Chart(draw, tuple(shown[1:]))
    return Chart(panels.panels, (tuple(shown),))


def written(value: object) -> str:
    """Return a value as it is written in a sentence: 0.42, 3e-8, [1, 2, 3], (3, 1), "A and B"."""
    if isinstance(value, Tensor):
        value = value.detach().tolist()
    if isinstance(value, float):
        return f"{value:.0f}" if value == int(value) else f"{value:.2g}".replace("e-0", "e-").replace("e+0", "e")
    if isinstance(value, Size | tuple):
        return f"({', '.join(map(written, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return joined(value)
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return str(value)


def _counted(number: int | Tensor | Sequence[object], noun: str) -> str:
    return counted(int(number) if isinstance(number, int | Tensor) else len(number), noun)


_JINJA = Environment(undefined=StrictUndefined, finalize=written)
_JINJA.filters |= {"percent": lambda share: percent(float(share)), "count": _counted}
_JINJA.globals |= {each.__name__: each for each in (abs, enumerate, float, int, len, max, min, sorted, sum, zip)}
