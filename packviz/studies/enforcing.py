"""What enforce_sorted does: torch asked twice with the same lengths."""

from __future__ import annotations

from torch.nn.utils.rnn import pack_padded_sequence

from packviz.record import Trace
from packviz.studies.refusals import refusal

__all__ = ["enforcing"]


def enforcing(trace: Trace) -> tuple[tuple[str, str], ...]:
    """Pack the batch with enforce_sorted True, then False; return each line that was run, and what came of it."""
    first = "batch_first=True, " if trace.padded.batch_first else ""
    call = f"pack_padded_sequence(x, lengths, {first}enforce_sorted={{}}).sorted_indices"
    return tuple((code, _outcome(trace, code)) for code in map(call.format, (True, False)))


def _outcome(trace: Trace, code: str) -> str:
    """Run one of the two lines above on x and lengths; return the repr of its value, or the error."""
    names = {"pack_padded_sequence": pack_padded_sequence, "x": trace.padded.values, "lengths": trace.padded.lengths}
    values: list[object] = []
    said = refusal(lambda: values.append(eval(code, dict(names))))
    return repr(values[0]) if said is None else said
