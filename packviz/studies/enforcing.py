"""What enforce_sorted does: torch asked twice with the same lengths."""

from __future__ import annotations

from torch.nn.utils.rnn import PackedSequence

from packviz.stages.packing import ask_torch
from packviz.studies.refusals import refusal
from packviz.trace import Trace

__all__ = ["enforcing"]


def enforcing(trace: Trace) -> tuple[tuple[str, str], ...]:
    """Pack the batch with enforce_sorted True, then False; return each call with torch's answer, or its refusal."""
    return tuple(
        (f"pack_padded_sequence(x, lengths, enforce_sorted={flag})", _asked(trace, flag)) for flag in (True, False)
    )


def _asked(trace: Trace, enforce_sorted: bool) -> str:
    padded, packed = trace.padded, list[PackedSequence]()

    def ask() -> None:
        packed.append(
            ask_torch(padded.values, padded.lengths, batch_first=padded.batch_first, enforce_sorted=enforce_sorted)
        )

    said = refusal(ask)
    if said is not None:
        return said
    order = packed[0].sorted_indices
    shown = "None: nothing was moved" if order is None else str(order.tolist())
    return f"accepted; sorted_indices = {shown}"
