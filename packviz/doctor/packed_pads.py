"""Pads that are packed as if they were data: zeros at the ends of the sequences, before their lengths."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.doctor.asking import answer, step_numbers
from packviz.doctor.chance import ALMOST_NEVER, SELDOM, log_chance_of_ends, log_chance_of_vectors
from packviz.doctor.finding import Finding, Severity, counted, listed, places

__all__ = ["packed_pads"]


@dataclass(frozen=True)
class _Ends:
    """Count: B sequences with N steps, K of them like pads, k of these at the ends of `rows`."""

    B: int
    N: int
    K: int
    k: int
    rows: list[int]


def packed_pads(
    values: Tensor,
    real: Tensor,
    lengths: list[int],
    pad: Tensor | float,
    *,
    told: bool,
    repair: str,
    places_alone: bool = False,
) -> Finding | None:
    """Return the finding where steps like pads end the sequences (B, T) or (B, T, ...) and the evidence is enough.

    real: (B, T) bool, True at steps before their lengths that do not look like a pad; places_alone: whether only the
    places of the pads count as evidence.
    """
    ends: list[int] = (real * torch.arange(1, real.size(1) + 1, device=real.device)).amax(1).tolist()
    rows = [b for b, end in enumerate(ends) if end < lengths[b] and (end or (told and lengths[b] > 1))]
    if not rows:
        return None
    seen = _count(real, lengths, ends, rows, told=told)
    by_place = log_chance_of_ends(seen.B, seen.N, seen.K, seen.k)
    if by_place < (SELDOM if told else ALMOST_NEVER) or (told and seen.k == seen.K and not places_alone):
        severity: Severity | None = "silent"
    else:
        severity = None if told or places_alone else _weigh(values, real, lengths, pad, seen)
    if severity is None:
        return None
    like = "looks like a pad" if seen.k == 1 else "look like pads"
    doubt = "" if severity == "silent" else " If they are real, nothing is wrong."
    found = (
        f"{counted(seen.k, 'step')} at the end of {counted(len(rows), 'sequence')} {like}, and count as data.{doubt}"
    )
    steps = [ends[b] for b in rows]
    does = _packs(values, lengths, ends, rows[0])
    return Finding("pads_packed", severity, found, places(rows, steps), does, repair, tuple(rows), tuple(steps))


def _count(real: Tensor, lengths: list[int], ends: list[int], rows: list[int], *, told: bool) -> _Ends:
    """Count over all sequences; those of nothing but zeros only where they are told to be pads."""
    kept = [b for b, end in enumerate(ends) if end or (told and lengths[b] > 1)]
    N = sum(lengths[b] for b in kept)
    return _Ends(len(kept), N, N - int(real.sum()), sum(lengths[b] - ends[b] for b in rows), rows)


def _weigh(values: Tensor, real: Tensor, lengths: list[int], pad: Tensor | float, seen: _Ends) -> Severity | None:
    """Weigh whole vectors of zeros: their places alone may say little, but each is F zeros at once."""
    F = values[0, 0].numel()
    if F == 1 or seen.k < seen.K or not values.is_floating_point():
        return None
    other = int((values[real] != pad).sum())
    if log_chance_of_vectors(seen.B, F, seen.N * F, seen.N * F - other, seen.k) >= ALMOST_NEVER:
        return None
    by_place = log_chance_of_ends(seen.B, seen.N, seen.K, seen.k)
    nobody_counted = len(set(lengths)) == 1 and len(seen.rows) > 1 and by_place < SELDOM
    return "silent" if nobody_counted else "note"


def _packs(values: Tensor, lengths: list[int], ends: list[int], b: int) -> str:
    alone = values[b : b + 1, : lengths[b]].detach().cpu()

    def words(packed: object) -> str:
        taken = [step_numbers(step) for step in packed.data[ends[b] :]]  # type: ignore[attr-defined]
        return f"packs {places((b,))} with {counted(len(taken), 'row')} {listed(taken)} at its end, as if data"

    return answer(lambda: pack_padded_sequence(alone, [lengths[b]], batch_first=True), words)
