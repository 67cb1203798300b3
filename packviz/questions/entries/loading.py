"""Entries: several gpus, loaders."""

from __future__ import annotations

from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Several GPUs, loaders"
ENTRIES: tuple[Entry, ...] = ()
