"""Entries: the lengths."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "The lengths"
ENTRIES: tuple[Entry, ...] = ()
