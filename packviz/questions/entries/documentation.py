"""Entries: PyTorch's own documentation."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Text: PyTorch's own documentation"
ENTRIES: tuple[Entry, ...] = ()
