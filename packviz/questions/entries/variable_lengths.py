"""Entries: variable sequence lengths."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Text: variable sequence lengths"
ENTRIES: tuple[Entry, ...] = ()
