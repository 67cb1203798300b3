"""What torch says: lines of code that are run, each with the value or the error that came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.compute.record import Trace
from packviz.inputs.batch import Batch
from packviz.inputs.torch_answers import ask

__all__ = ["Field", "behaviours", "enforcing", "fields", "stack_errors", "stacked_shape"]

_LINES = 12  # of a value's text at most

_TRIED = (
    "isinstance(packed, tuple)",
    "type(packed).__bases__",
    "len(packed)",
    "packed[0] is packed.data",
    "packed.size()",
    "data, lengths = packed",
    "torch.sigmoid(packed)",
    "packed._replace(data=torch.sigmoid(packed.data))",
)

_CALLS: dict[str, Callable[[list[Tensor]], Tensor]] = {
    "torch.stack(sequences)": lambda sequences: torch.stack(sequences),
    "torch.tensor([x.tolist() for x in sequences])": lambda sequences: torch.tensor([x.tolist() for x in sequences]),
}


@dataclass(frozen=True)
class Field:
    """Hold one field of a PackedSequence as Python shows it; dtype, shape and device are None where it is None."""

    name: str
    type: str
    dtype: str | None
    shape: tuple[int, ...] | None
    device: str | None
    text: str


def stack_errors(batch: Batch) -> tuple[tuple[str, str], ...]:
    """Return each call that should make one tensor of the sequences, and the error that it really raises.

    The pairs are (code, "RuntimeError: ..."), from calls on this very batch. Where all lengths are equal there is
    none: then the sequences do stack, to ``stacked_shape(batch)``.
    """
    sequences = list(batch.sequences)
    said = ((code, ask(lambda call=call: call(sequences)).last_line) for code, call in _CALLS.items())  # type: ignore[misc]
    return tuple((code, message) for code, message in said if message is not None)


def stacked_shape(batch: Batch) -> tuple[int, ...] | None:
    """Return (B, T) or (B, T, F), what ``torch.stack`` makes of sequences of one length; None where it refuses."""
    if stack_errors(batch):
        return None
    return tuple(torch.stack(list(batch.sequences)).shape)


def enforcing(trace: Trace) -> tuple[tuple[str, str], ...]:
    """Pack the batch with enforce_sorted True, then False; return each line that was run, and what came of it."""
    first = "batch_first=True, " if trace.padded.batch_first else ""
    call = f"pack_padded_sequence(x, lengths, {first}enforce_sorted={{}}).sorted_indices"
    return tuple((code, _order_outcome(trace, code)) for code in map(call.format, (True, False)))


def fields(trace: Trace) -> tuple[Field, ...]:
    """Return the four fields of the trace's PackedSequence, in torch's order, each with its shortened repr.

    Raises PackvizError where torch refused to pack the batch.
    """
    packed = trace.packed_sequence
    return tuple(_field(name, value) for name, value in zip(packed._fields, packed, strict=True))


def behaviours(trace: Trace) -> tuple[tuple[str, str], ...]:
    """Execute a few lines of code on the trace's PackedSequence; return each with what came of it.

    An outcome is the shortened repr of the value, or the error as the last line of a traceback shows it.
    Raises PackvizError where torch refused to pack the batch.
    """
    packed = trace.packed_sequence
    return tuple((code, _packed_outcome(code, packed)) for code in _TRIED)


def _order_outcome(trace: Trace, code: str) -> str:
    """Run one of the two lines above on x and lengths; return the repr of its value, or the error."""
    names = {"pack_padded_sequence": pack_padded_sequence, "x": trace.padded.values, "lengths": trace.padded.lengths}
    answer = ask(lambda: eval(code, dict(names)))
    return answer.last_line or repr(answer.result)


def _field(name: str, value: Tensor | None) -> Field:
    kind, text = type(value).__name__, _shortened(repr(value))
    if value is None:
        return Field(name, kind, None, None, None, text)
    return Field(name, kind, str(value.dtype), tuple(value.shape), str(value.device), text)


def _packed_outcome(code: str, packed: PackedSequence) -> str:
    """Execute one line of the list above, so that what is shown is what was run."""
    names: dict[str, object] = {"packed": packed, "torch": torch}
    answer = ask(lambda: exec(code if " = " in code else f"value = {code}", names))
    return answer.last_line or _shortened(repr(names.get("value")))


def _shortened(text: str) -> str:
    """Return the text with the middle of too many lines left out, as torch does it in a long tensor."""
    lines = text.splitlines()
    if len(lines) <= _LINES:
        return text
    half = (_LINES - 1) // 2
    indent = " " * (len(lines[1]) - len(lines[1].lstrip()))
    return "\n".join([*lines[:half], f"{indent}...,", *lines[-half:]])
