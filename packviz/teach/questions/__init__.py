"""Questions about packing, answered by running them: entries in Markdown, their verdicts, and a search."""

from packviz.teach.questions.entry import ENTRIES, GROUPS, Entry, Film, Verdict
from packviz.teach.questions.running import Answer, Chart, Program, answer
from packviz.teach.questions.search import PAGES, Page, has_message, is_error, search

__all__ = [
    "ENTRIES",
    "GROUPS",
    "PAGES",
    "Answer",
    "Chart",
    "Entry",
    "Film",
    "Page",
    "Program",
    "Verdict",
    "answer",
    "has_message",
    "is_error",
    "search",
]
