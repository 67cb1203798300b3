"""Entries: shapes and batch_first."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Shapes and batch_first"
ENTRIES: tuple[Entry, ...] = ()
