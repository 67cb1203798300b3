"""Questions about packing, answered by running them: entries in Markdown, their verdicts, and a search."""

from packviz.teach.questions.entry import Chart, Entry, Film, Outcome, Verdict
from packviz.teach.questions.judging import Answer, answer
from packviz.teach.questions.reading import ENTRIES, GROUPS
from packviz.teach.questions.running import Program, Runner
from packviz.teach.questions.search import PAGES, Page, has_message, is_error, search

__all__ = [
    "ENTRIES",
    "GROUPS",
    "PAGES",
    "Answer",
    "Chart",
    "Entry",
    "Film",
    "Outcome",
    "Page",
    "Program",
    "Runner",
    "Verdict",
    "answer",
    "has_message",
    "is_error",
    "search",
]
