"""Entries: how does pack_padded_sequence function?."""

from __future__ import annotations

from packviz.questions.entries import operate_lengths, operate_order, operate_worth
from packviz.questions.entries.operate_order import GROUP
from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

ENTRIES: tuple[Entry, ...] = (*operate_order.ENTRIES, *operate_lengths.ENTRIES, *operate_worth.ENTRIES)
