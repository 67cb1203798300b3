"""Entries: export, compile, other backends."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Export, compile, other backends"
ENTRIES: tuple[Entry, ...] = ()
