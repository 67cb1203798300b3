"""Entries: pads and packs, step by step."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Text: pads and packs, step by step"
ENTRIES: tuple[Entry, ...] = ()
