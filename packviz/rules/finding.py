"""A finding: what was found, where, what torch does with it, and the repair, in the words of findings.toml."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from textwrap import indent
from typing import Any, Literal

from packviz.errors import PackvizError
from packviz.inputs.torch_answers import Answer
from packviz.rules.repairs import REPAIRS
from packviz.rules.words import Cause, Said, cause_template, keys, places, templates
from packviz.text import markup

Severity = Literal["error", "silent", "note"]

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
        ignored = set(ignore) if isinstance(ignore, Collection) and not isinstance(ignore, str) else {ignore}
        for unknown in sorted(map(str, ignored - keys())):
            near, expected = get_close_matches(unknown, keys(), 1), "keys of findings, such as 'pads_packed'"
            fix = f"write {near[0]!r}" if near else "copy the key from the finding"
            raise PackvizError("ignore", expected=expected, got=repr(unknown), fix=fix)
        return Findings(one for one in self if one.key not in ignored) if ignored else self

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
    says     of a field that has several texts, those that hold here
    cause    of what differs, if it is known
    answer   what torch does with this input, or with the smallest part that shows the problem; None if it is not asked
    rows, steps   the sequences and the time steps in these, as in Finding
    severity      None: that of torch's answer; fails_in: as in Finding
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
        fails_in: str = "",
        says: Sequence[Said] = (),
        cause: Cause | None = None,
        **values: object,
    ) -> None:
        self.key, self.answer, self.rows, self.steps = key, answer, tuple(rows), tuple(steps)
        self.severity: Severity = severity or (answer or Answer()).severity
        self.fails_in, self.says, self.cause, self.values = fails_in, tuple(says), cause, values


def worded(fault: Fault, case: object) -> Finding:
    """Return the finding: the words of the fault's key, filled with its values.

    Words with a parameter are also those of the PackvizError that trace_module() raises.
    """
    words, rows, steps = templates(fault.key, fault.says), fault.rows, fault.steps
    answer = fault.answer or Answer()
    values = {**fault.values, "answer": answer, "case": case, "rows": rows, "steps": steps}
    values["sequence"] = places(rows[:1])
    values["because"] = " ".join(cause_template(fault.cause).render(**values).split()) if fault.cause else ""

    def said(field: str, **more: object) -> str:
        return " ".join(" ".join(text.render(**values, **more) for text in words[field]).split())

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
    return Finding(
        said("key"), fault.severity, said("found"), at, does, repair, rows, steps, error=error, fails_in=fault.fails_in
    )
