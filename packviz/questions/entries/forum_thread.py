"""Entries: a forum thread on both functions."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Text: a forum thread on both functions"
ENTRIES: tuple[Entry, ...] = ()
