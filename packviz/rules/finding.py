"""A finding: what was found, where, what torch does with it, and the repair, in the words of findings.toml."""

import json
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any, Literal

from jinja2 import Environment, Template

from packviz.errors import PackvizError
from packviz.inputs.torch_answers import Answer
from packviz.rules.repairs import REPAIRS
from packviz.text import ENVIRONMENT, dtype_name, letters, listed, markup, numbers, sequence_label, shown

Severity = Literal["error", "silent", "note"]
Cause = Literal[  # the sentences of [causes] in findings.toml
    "draws_in_evaluation",
    "draws_in_training",
    "keeps_a_state",
    "moved",
    "mixed",
    "flows",
    "number_of_pads",
    "pads_read",
    "others",
    "steps_after",
    "sorted_by_length",
    "labels_shifted",
    "recurrent_layer",
    "statistics",
    "attention_reads_over",
    "earlier_changed",
    "some_borders",
    "no_borders",
    "first_differs",
    "first_is_right",
    "dropout_between_layers",
]

MAX_PLACES = 4
_HEADS: dict[Severity, str] = {"error": "Error", "silent": "Silently wrong", "note": "Note"}


@dataclass(frozen=True, repr=False)
class Finding:
    """One thing that is wrong, or worth knowing.

    key         what kind of thing, in one word
    severity    "error": torch raises, or would abort; "silent": torch continues without an error; "note": worth knowing
    fails_in    of a "silent" finding: the later call that raises; "" if none does and the result is wrong
    found       what was given, with its numbers
    where       which sequence and time step, in words
    torch_does  what torch did just now, on the smallest part of the batch that shows it
    repair      Python code that runs; it uses and sets the argument names of examine()
    sequences   b of the sequences concerned; timesteps: t in each of these, in the same order, or alone
    layer       the layer's name in the model that is watched; times: how often it occurred
    error       what trace_module() raises when it finds this; None if it continues
    """

    key: str
    severity: Severity
    found: str
    where: str = ""
    torch_does: str = ""
    repair: str = ""
    sequences: tuple[int, ...] = ()
    timesteps: tuple[int, ...] = ()
    layer: str | None = None
    times: int = 1
    error: PackvizError | None = field(default=None, compare=False, repr=False)
    fails_in: str = ""

    @property
    def head(self) -> str:
        """Return the severity in words."""
        return f"Fails later, in {self.fails_in}" if self.fails_in else _HEADS[self.severity]

    @property
    def torch_sentence(self) -> str:
        """Return what torch does as a sentence, or "" if it was not asked."""
        end = "" if self.torch_does.endswith('."') else "."
        return f"torch {self.torch_does}{end}" if self.torch_does else ""

    def __str__(self) -> str:
        layer = "" if self.layer is None else f" in {self.layer or 'the model itself'}"
        often = "" if self.times == 1 else f" ({self.times} times)"
        where = f"\n  Where: {self.where}." if self.where else ""
        does = f"\n  {self.torch_sentence}" if self.torch_does else ""
        repair = f"\n  Repair:\n{indent(self.repair, '    ')}" if self.repair else ""
        return f"{self.head}{layer}{often}: {self.found}{where}{does}{repair}"

    def __repr__(self) -> str:
        return f"Finding({', '.join(filter(None, (self.severity, self.key, self.where)))})"


class Findings(tuple[Finding, ...]):
    """The findings, in order; empty if there are none. It prints as a report."""

    __slots__ = ()

    @property
    def wrong(self) -> "Findings":
        """Return the findings that are not notes: torch refuses the input, or gives a wrong result."""
        return Findings(one for one in self if one.severity != "note")

    def ignoring(self, ignore: str | Collection[str]) -> "Findings":
        """Return the findings without these keys. Raises PackvizError for a key that no finding has."""
        keys = set(ignore) if isinstance(ignore, Collection) and not isinstance(ignore, str) else {ignore}
        for unknown in sorted(map(str, keys - _keys())):
            near, expected = get_close_matches(unknown, _keys(), 1), "keys of findings, such as 'pads_packed'"
            fix = f"write {near[0]!r}" if near else "copy the key from the finding"
            raise PackvizError("ignore", expected=expected, got=repr(unknown), fix=fix)
        return Findings(one for one in self if one.key not in keys) if keys else self

    def raise_for_errors(self) -> None:
        """Raise FindingsError, with the report as its message, unless all of them are notes."""
        if self.wrong:
            raise FindingsError(self)

    def to_json(self, indent: int | None = None) -> str:
        """Return a JSON list with an object for each finding, with all fields of Finding except `error`."""
        rows = [{name: value for name, value in vars(one).items() if name != "error"} for one in self]
        return json.dumps(rows, indent=indent, ensure_ascii=False)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self)) or "Nothing found."

    def _repr_html_(self) -> str:
        """Return a table for notebooks: how bad it is, what was found and what torch does, where, and the repair."""
        return markup(Path(__file__).with_name("findings.html"), findings=self)

    def __repr__(self) -> str:
        return f"Findings({', '.join(f'{one.severity}: {one.key}' for one in self)})"


class FindingsError(PackvizError):
    """Report what is wrong; raised by Findings.raise_for_errors()."""

    def __init__(self, findings: Findings) -> None:
        found = ", ".join(one.key for one in findings.wrong)
        super().__init__("findings", expected="nothing wrong", got=found, fix="see each finding's repair")
        self.findings = findings

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.findings,), self.__dict__

    def __str__(self) -> str:
        return str(self.findings)


class Fault:
    """What a condition found, before it is put into words.

    key      names the words in findings.toml
    values   what these words and the repair are about: tests/doctor/test_fault_values.py compares their names
    cause    of what differs, if it is known
    answer   what torch does with this input, or with the smallest part that shows the problem; None if it is not asked
    rows, steps   the sequences and the time steps in these, as in Finding
    severity      None: that of torch's answer
    """

    def __init__(
        self,
        key: str,
        answer: Answer[Any] | None = None,
        rows: Sequence[int] = (),
        steps: Sequence[int] = (),
        /,
        *,
        severity: Severity | None = None,
        cause: Cause | None = None,
        **values: object,
    ) -> None:
        self.key, self.answer, self.rows, self.steps = key, answer, tuple(rows), tuple(steps)
        self.severity: Severity = severity or (answer or Answer()).severity
        self.cause, self.values = cause, values


def worded(fault: Fault, case: object) -> Finding:
    """Return the finding: the words of the fault's key, filled with its values.

    Words with a parameter are also those of the PackvizError that trace_module() raises.
    """
    words, rows, steps = _words(fault.key), fault.rows, fault.steps
    answer = fault.answer or Answer()
    values = {**fault.values, "answer": answer, "case": case, "rows": rows, "steps": steps}
    values["because"] = " ".join(_cause(fault.cause).render(**values).split()) if fault.cause else ""

    def said(field: str, **more: object) -> str:
        return " ".join(words[field].render(**values, **more).split())

    does = answer.does(lambda result: said("silently", result=result)) if fault.answer is not None else ""
    error = None
    if "parameter" in words:
        parts = {field: said(field) for field in ("parameter", "expected", "got", "fix")}
        values |= parts
        if does and answer.error is None:
            parts["got"] += f" (torch {does})"
        error = PackvizError(**parts, torch_says=answer.message)
    where = said("where") if "where" in words else places(rows, steps)
    write = REPAIRS.get(fault.key)
    repair = write(case, rows=rows, steps=steps, cause=fault.cause, **fault.values) if write else ""
    at = where or said("parameter")
    key, found, fails_in = said("key"), said("found"), said("fails_in")
    return Finding(key, fault.severity, found, at, does, repair, rows, steps, error=error, fails_in=fails_in)


def places(sequences: Sequence[int], timesteps: Sequence[int] = ()) -> str:
    """Return places in words, the first few of them.

    >>> places((1, 2), (3, 0))
    'sequence B at t = 3, sequence C at t = 0'
    """
    steps = [f" at t = {t}" for t in timesteps[:MAX_PLACES]] or [""] * MAX_PLACES
    named = [f"sequence {sequence_label(b)}{step}" for b, step in zip(sequences[:MAX_PLACES], steps, strict=False)]
    more = f" and {len(sequences) - MAX_PLACES} more" if len(sequences) > MAX_PLACES else ""
    return ", ".join(named) + more


def cell(number: int, T: int) -> str:
    """Return the place of a cell in a grid of T steps: "sequence B at t = 3"."""
    return places((number // T,), (number % T,))


def documents(numbers: Sequence[int]) -> str:
    """Return documents by their letters: "document B", "documents B and C"."""
    return f"document{'' if len(numbers) == 1 else 's'} {letters(numbers)}"


def for_sequences(values: Sequence[object], rows: Sequence[int]) -> str:
    """Return values with the sequences that have them: "0, -1 for sequences A and C"."""
    return f"{listed(values)} for sequence{'' if len(rows) == 1 else 's'} {letters(rows)}"


def lengths_of(rows: Sequence[int], values: Sequence[object]) -> str:
    """Return which sequences have which lengths: "Sequence A has length 5", "Sequences A and C have lengths 5, 6"."""
    several = len(rows) > 1
    return f"Sequence{'s' * several} {letters(rows)} {'have lengths' if several else 'has length'} {listed(values)}"


def layout(case: Any) -> str:
    """Return the dimensions that the data of a case must have."""
    if case.packed is not None:
        return "two dimensions, (N, F)"
    module = "" if case.module is None else f", since the module has batch_first={case.batch_first}"
    return f"{'(B, T, F)' if case.batch_first else '(T, B, F)'}{module}"


@cache
def _table() -> tuple[Environment, dict[str, dict[str, str]]]:
    """Return the words of every key as they are in the table, and what fills them."""
    environment = ENVIRONMENT.overlay()
    environment.filters = {**ENVIRONMENT.filters, "grouped": "{:,}".format, "general": "{:g}".format}
    own = (documents, dtype_name, for_sequences, layout, lengths_of, numbers, places, shown)
    environment.filters |= {each.__name__: each for each in own}
    environment.globals = {**ENVIRONMENT.globals, "cell": cell, "places": places, "tuple": tuple}
    written = tomllib.loads(Path(__file__).with_name("findings.toml").read_text(encoding="utf-8"))
    table: dict[str, dict[str, str]] = {}
    for name, entry in written.items():
        shared = {field: text for field, text in entry.items() if isinstance(text, str)}
        entries = {key: words for key, words in entry.items() if isinstance(words, dict)}  # of a group
        table |= {key: {**shared, **words} for key, words in entries.items()} or {name: shared}
    return environment, table


def key_of(name: str) -> str:
    """Return the key of the finding that a fault of this name becomes."""
    return _table()[1][name].get("key", name)


@cache
def _keys() -> frozenset[str]:
    return frozenset(key_of(name) for name in _table()[1] if name != "causes")


@cache
def _cause(name: str) -> Template:
    """Return the template of a cause."""
    environment, table = _table()
    return environment.from_string(table["causes"][name])


@cache
def _words(key: str) -> dict[str, Template]:
    """Return the templates of a key, by field, compiled when the key is first found."""
    environment, table = _table()
    fields = {"key": key, "silently": "accepts it without an error", "fails_in": "", **table[key]}
    return {name: environment.from_string(text) for name, text in fields.items()}
