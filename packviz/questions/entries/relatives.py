"""Entries: relatives with confusing names."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Relatives with confusing names"
ENTRIES: tuple[Entry, ...] = ()
