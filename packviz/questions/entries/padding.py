"""Entries: what padding does: embedding, norms, dropout."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "What padding does: embedding, norms, dropout"
ENTRIES: tuple[Entry, ...] = ()
