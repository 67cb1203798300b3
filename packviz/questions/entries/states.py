"""Entries: which hidden state; both directions."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Which hidden state; both directions"
ENTRIES: tuple[Entry, ...] = ()
