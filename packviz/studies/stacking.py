"""Why padding at all: what torch says when sequences of different lengths are to become one tensor."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from packviz.batch import Batch
from packviz.studies.refusals import refusal

__all__ = ["stack_errors", "stacked_shape"]

_CALLS: dict[str, Callable[[list[Tensor]], Tensor]] = {
    "torch.stack(sequences)": lambda sequences: torch.stack(sequences),
    "torch.tensor([x.tolist() for x in sequences])": lambda sequences: torch.tensor([x.tolist() for x in sequences]),
}


def stack_errors(batch: Batch) -> tuple[tuple[str, str], ...]:
    """Return each call that should make one tensor of the sequences, and the error that it really raises.

    The pairs are (code, "RuntimeError: ..."), from calls on this very batch. Where all lengths are equal there is
    none: then the sequences do stack, to ``stacked_shape(batch)``.
    """
    sequences = list(batch.sequences)
    said = ((code, refusal(lambda call=call: call(sequences))) for code, call in _CALLS.items())  # type: ignore[misc]
    return tuple((code, message) for code, message in said if message is not None)


def stacked_shape(batch: Batch) -> tuple[int, ...] | None:
    """Return (B, T) or (B, T, F), what ``torch.stack`` makes of sequences of one length; None where it refuses."""
    if stack_errors(batch):
        return None
    return tuple(torch.stack(list(batch.sequences)).shape)
