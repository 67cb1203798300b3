"""Questions about packing, answered by running them: entries, their programs, verdicts, and a search."""

from packviz.questions.answer import Answer, answer
from packviz.questions.entries import ENTRIES, GROUPS
from packviz.questions.laboratory import Laboratory, Program
from packviz.questions.model import Chart, Entry, Film, Outcome, Verdict
from packviz.questions.search import has_message, is_error, search

__all__ = [
    "ENTRIES",
    "GROUPS",
    "Answer",
    "Chart",
    "Entry",
    "Film",
    "Laboratory",
    "Outcome",
    "Program",
    "Verdict",
    "answer",
    "has_message",
    "is_error",
    "search",
]
