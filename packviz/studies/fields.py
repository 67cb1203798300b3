"""What a PackedSequence is in Python: its four fields, and what it answers when it is used."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.record import Trace
from packviz.studies.refusals import refusal

__all__ = ["Field", "behaviours", "fields"]

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


@dataclass(frozen=True)
class Field:
    """Hold one field of a PackedSequence as Python shows it; dtype, shape and device are None where it is None."""

    name: str
    type: str
    dtype: str | None
    shape: tuple[int, ...] | None
    device: str | None
    text: str


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
    return tuple((code, _outcome(code, packed)) for code in _TRIED)


def _field(name: str, value: Tensor | None) -> Field:
    kind, text = type(value).__name__, _shortened(repr(value))
    if value is None:
        return Field(name, kind, None, None, None, text)
    return Field(name, kind, str(value.dtype), tuple(value.shape), str(value.device), text)


def _outcome(code: str, packed: PackedSequence) -> str:
    """Execute one line of the list above, so that what is shown is what was run."""
    names: dict[str, object] = {"packed": packed, "torch": torch}
    said = refusal(lambda: exec(code if " = " in code else f"value = {code}", names))
    return said if said is not None else _shortened(repr(names.get("value")))


def _shortened(text: str) -> str:
    """Return the text with the middle of too many lines left out, as torch does it in a long tensor."""
    lines = text.splitlines()
    if len(lines) <= _LINES:
        return text
    half = (_LINES - 1) // 2
    indent = " " * (len(lines[1]) - len(lines[1].lstrip()))
    return "\n".join([*lines[:half], f"{indent}...,", *lines[-half:]])
