"""Entries: loss, attention, pooling."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Loss, attention, pooling"
ENTRIES: tuple[Entry, ...] = ()
