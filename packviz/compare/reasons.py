"""Why a reading is not the state that is wanted: what each half has read where it stands."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

__all__ = ["grouped", "reasons"]


def reasons(at: Sequence[int], ends: Sequence[int], real: Tensor, halves: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return for each sequence and half why the state that stands there is none of exactly the sequence's own tokens.

    at      (B,) the column that is read
    ends    (B,) how many columns the cell has read: T padded, the length packed; filler stands after them
    real    (B, T) bool: the cells that hold a token
    halves  "forward" or "backward", or both
    """
    return tuple(
        tuple(_reason(t, end, row, half, f"its {half} half" if len(halves) == 2 else "it") for half in halves)
        for t, end, row in zip(at, ends, real.tolist(), strict=True)
    )


def grouped(said: Sequence[str]) -> list[tuple[str, list[int]]]:
    """Return each sentence once, with the places that have it, in the order in which they come."""
    groups: dict[str, list[int]] = {}
    for place, reason in enumerate(said):
        groups.setdefault(reason, []).append(place)
    return list(groups.items())


def _reason(t: int, end: int, real: list[bool], half: str, it: str) -> str:
    if t >= end:
        return "filler stands there"
    seen = real[: t + 1] if half == "forward" else real[t:end][::-1]  # in the order in which it reads
    tokens, pads = sum(seen), len(seen) - sum(seen)
    if not tokens:
        return f"{it} has read padding only"
    if tokens < sum(real):
        only = "one token" if tokens == 1 else f"{tokens} tokens"
        return f"{it} has read padding and {only} only" if pads else f"{it} has read {only} only"
    if pads:
        return f"padding has moved {it}" if seen[0] else f"{it} starts in the padding"
    return f"{it} reads a layer below that starts in the padding"
