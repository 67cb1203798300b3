"""What torch says: lines of code that are run, each with its outcome; and torch's order for equal lengths."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.compute.record import Trace
from packviz.inputs.batch import Batch
from packviz.inputs.torch_answers import ask
from packviz.validate import integer

__all__ = ["behaviours", "enforcing", "fields", "first_unstable", "order_of_equals", "stacking", "ties"]

_LINES = 12  # of a value's text, at most
_STACKS = ("torch.stack(sequences)", "torch.tensor([x.tolist() for x in sequences])")
_STACKED = ("torch.stack(sequences).shape",)
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
Outcomes = tuple[tuple[str, str], ...]  # lines of code, each with the repr of its value or the error that it raised


def stacking(batch: Batch) -> Outcomes:
    """Run the calls that should make one tensor of the sequences; they raise errors unless all lengths are equal.

    If they are, return the shape of the stacked sequences.
    """
    names = {"torch": torch, "sequences": list(batch.sequences)}
    return _outcomes(_STACKED if len(set(map(len, batch.sequences))) == 1 else _STACKS, names)


def enforcing(trace: Trace) -> Outcomes:
    """Pack the batch with enforce_sorted True, then False."""
    first = "batch_first=True, " if trace.padded.batch_first else ""
    call = f"pack_padded_sequence(x, lengths, {first}enforce_sorted={{}}).sorted_indices"
    names = {"pack_padded_sequence": pack_padded_sequence, "x": trace.padded.values, "lengths": trace.padded.lengths}
    return _outcomes(map(call.format, (True, False)), names)


def fields(trace: Trace) -> tuple[tuple[str | None, ...], ...]:
    """Return name, type, dtype, shape and device of the four fields of the trace's PackedSequence.

    Raises PackvizError if torch refused to pack the batch.
    """

    def field(name: str, value: Tensor | None) -> tuple[str | None, ...]:
        if value is None:
            return name, "NoneType", None, None, None
        return name, type(value).__name__, str(value.dtype), str(tuple(value.shape)), str(value.device)

    return tuple(map(field, PackedSequence._fields, trace.packed_sequence))


def behaviours(trace: Trace) -> Outcomes:
    """Run a few lines of code on the trace's PackedSequence; the middle of a long repr is left out.

    Raises PackvizError if torch refused to pack the batch.
    """
    names = {"packed": trace.packed_sequence, "torch": torch}
    return tuple((code, _shortened(outcome)) for code, outcome in _outcomes(_TRIED, names))


def _outcomes(lines: Iterable[str], names: dict[str, object]) -> Outcomes:
    """Execute our own lines: the code shown is the code run. An error is the last line of its traceback."""

    def outcome(code: str) -> str:
        scope = dict(names)
        answer = ask(lambda: exec(code if " = " in code else f"value = {code}", scope))
        return answer.last_line or repr(scope.get("value"))

    return tuple((code, outcome(code)) for code in lines)


def _shortened(text: str) -> str:
    """Leave out the middle of a long text, as torch does with a long tensor."""
    lines = text.splitlines()
    if len(lines) <= _LINES:
        return text
    half = (_LINES - 1) // 2
    indent = " " * (len(lines[1]) - len(lines[1].lstrip()))
    return "\n".join([*lines[:half], f"{indent}...,", *lines[-half:]])


@dataclass(frozen=True)
class Tie:
    """The sequences of one length, at least two, in the order in which torch packed them."""

    length: int
    sequences: tuple[int, ...]

    @property
    def as_they_came(self) -> bool:
        """Return whether they kept their original order."""
        return list(self.sequences) == sorted(self.sequences)


@cache
def order_of_equals(n: int) -> tuple[int, ...]:
    """Return torch's own sorted_indices for n sequences of equal length; raises PackvizError for n below 1."""
    n = integer("n", n, 1, fix="ask for the order of at least one sequence")
    lengths = torch.ones(n, dtype=torch.int64, device="cpu")
    packed = pack_padded_sequence(torch.zeros(1, n, 1, device="cpu"), lengths, enforce_sorted=False)
    assert packed.sorted_indices is not None  # it is None only with enforce_sorted=True
    return tuple(packed.sorted_indices.tolist())


@cache
def first_unstable() -> int | None:
    """Return the smallest n up to 64 for which torch reorders equal lengths; None if there is none."""
    return next((n for n in range(1, 65) if order_of_equals(n) != tuple(range(n))), None)


def ties(trace: Trace) -> tuple[Tie, ...]:
    """Return every length shared by at least two sequences of the batch, longest first."""
    lengths = trace.padded.lengths.tolist()
    groups = [Tie(length, tuple(group)) for length, group in groupby(trace.sorted.order.tolist(), lengths.__getitem__)]
    return tuple(tie for tie in groups if len(tie.sequences) > 1)
