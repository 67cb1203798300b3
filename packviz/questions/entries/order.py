"""Entries: ordering, sort, unsort."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Ordering, sort, unsort"
ENTRIES: tuple[Entry, ...] = ()
