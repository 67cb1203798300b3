"""Entries: a forum thread on both functions."""

from __future__ import annotations

from packviz.questions.entries import forum_example, forum_padding, forum_sizes, forum_starts, forum_uses
from packviz.questions.entries.forum_example import GROUP
from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

ENTRIES: tuple[Entry, ...] = (
    *forum_example.ENTRIES,
    *forum_sizes.ENTRIES,
    *forum_padding.ENTRIES,
    *forum_starts.ENTRIES,
    *forum_uses.ENTRIES,
)
