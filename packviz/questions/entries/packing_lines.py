"""Packing lines: how the programs of several entries pack."""

from __future__ import annotations

__all__ = ["PACK", "PACK_SORTED"]

PACK_SORTED = "packed = pack_padded_sequence(x, lengths, batch_first=True)\n"
PACK = """\
packed = pack_padded_sequence(
    x, lengths, batch_first=True, enforce_sorted=False
)
"""
