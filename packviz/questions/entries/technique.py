"""Entries: the pack and pad technique."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Text: the pack and pad technique"
ENTRIES: tuple[Entry, ...] = ()
