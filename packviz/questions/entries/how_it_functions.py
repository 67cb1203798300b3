"""Entries: how does pack_padded_sequence function?."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Text: how does pack_padded_sequence function?"
ENTRIES: tuple[Entry, ...] = ()
