"""Entries: speed and memory."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Speed and memory"
ENTRIES: tuple[Entry, ...] = ()
