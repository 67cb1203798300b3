"""Answer: an entry that has been run, with everything that a page shows of it."""

from __future__ import annotations

from dataclasses import dataclass

from packviz.questions.laboratory import Laboratory, Program
from packviz.questions.model import Entry, Outcome
from packviz.record import Trace

__all__ = ["Answer", "answer"]


@dataclass(frozen=True, eq=False)
class Answer:
    """Hold what came of an entry: the run of its batch, both programs, and the outcome."""

    entry: Entry
    trace: Trace
    preparation: str
    broken: Program
    fixed: Program
    outcome: Outcome


def answer(entry: Entry) -> Answer:
    """Run an entry's programs now, and return what they have shown."""
    laboratory = Laboratory(entry)
    outcome = entry.experiment(laboratory)
    return Answer(entry, laboratory.trace, laboratory.preparation, laboratory.broken, laboratory.fixed, outcome)
