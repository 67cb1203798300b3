"""What torch says: lines of code that are run, each with what came of it; and its order of equal lengths."""

from dataclasses import dataclass
from functools import cache, partial

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.compute.record import Trace
from packviz.inputs.batch import Batch
from packviz.inputs.torch_answers import ask
from packviz.validate import integer

__all__ = ["behaviours", "enforcing", "fields", "first_unstable", "order_of_equals", "stack_errors", "stacked_shape"]
__all__ += ["ties"]

_LINES = 12  # of a value's text at most
_STACKS = ("torch.stack(sequences)", "torch.tensor([x.tolist() for x in sequences])")
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


Field = tuple[str, str, str | None, str | None, str | None]  # of a PackedSequence: name, type, dtype, shape, device


def stack_errors(batch: Batch) -> tuple[tuple[str, str], ...]:
    """Return each call that should make one tensor of the sequences, and the error that it really raises.

    The pairs are (code, "RuntimeError: ..."), from calls on this very batch. Where all lengths are equal there is
    none: then the sequences do stack, to ``stacked_shape(batch)``.
    """
    names = {"torch": torch, "sequences": list(batch.sequences)}
    said = {code: ask(partial(eval, code, names)).last_line for code in _STACKS}
    return tuple((code, message) for code, message in said.items() if message is not None)


def stacked_shape(batch: Batch) -> tuple[int, ...] | None:
    """Return (B, T) or (B, T, F), what ``torch.stack`` makes of sequences of one length; None where it refuses."""
    stacked = ask(lambda: torch.stack(list(batch.sequences))).result
    return None if stacked is None else tuple(stacked.shape)


def enforcing(trace: Trace) -> tuple[tuple[str, str], ...]:
    """Pack the batch with enforce_sorted True, then False; return each line that was run, and what came of it."""
    first = "batch_first=True, " if trace.padded.batch_first else ""
    call = f"pack_padded_sequence(x, lengths, {first}enforce_sorted={{}}).sorted_indices"
    names = {"pack_padded_sequence": pack_padded_sequence, "x": trace.padded.values, "lengths": trace.padded.lengths}
    return tuple((code, _outcome(code, names)) for code in map(call.format, (True, False)))


def fields(trace: Trace) -> tuple[Field, ...]:
    """Return what the four fields of the trace's PackedSequence are, in torch's order; None where there is nothing.

    Raises PackvizError where torch refused to pack the batch.
    """

    def field(name: str, value: Tensor | None) -> Field:
        if value is None:
            return name, "NoneType", None, None, None
        return name, type(value).__name__, str(value.dtype), str(tuple(value.shape)), str(value.device)

    return tuple(map(field, PackedSequence._fields, trace.packed_sequence))


def behaviours(trace: Trace) -> tuple[tuple[str, str], ...]:
    """Execute a few lines of code on the trace's PackedSequence; return each with what came of it.

    An outcome is the shortened repr of the value, or the error as the last line of a traceback shows it.
    Raises PackvizError where torch refused to pack the batch.
    """
    names = {"packed": trace.packed_sequence, "torch": torch}
    return tuple((code, _shortened(_outcome(code, names))) for code in _TRIED)


def _outcome(code: str, names: dict[str, object]) -> str:
    """Execute one of our own lines, so that what is shown is what was run; return its value's repr, or the error."""
    scope = dict(names)
    answer = ask(lambda: exec(code if " = " in code else f"value = {code}", scope))
    return answer.last_line or repr(scope.get("value"))


def _shortened(text: str) -> str:
    """Return the text with the middle of too many lines left out, as torch does it in a long tensor."""
    lines = text.splitlines()
    if len(lines) <= _LINES:
        return text
    half = (_LINES - 1) // 2
    indent = " " * (len(lines[1]) - len(lines[1].lstrip()))
    return "\n".join([*lines[:half], f"{indent}...,", *lines[-half:]])


@dataclass(frozen=True)
class Tie:
    """Hold the sequences of one length, at least two, in the order in which torch packed them."""

    length: int
    sequences: tuple[int, ...]

    @property
    def as_they_came(self) -> bool:
        """Return whether they kept the order in which they came."""
        return list(self.sequences) == sorted(self.sequences)


@cache
def order_of_equals(n: int) -> tuple[int, ...]:
    """Return torch's own sorted_indices for n sequences of equal length; raises PackvizError for n below 1."""
    n = integer("n", n, 1, fix="ask for the order of at least one sequence")
    lengths = torch.ones(n, dtype=torch.int64, device="cpu")
    packed = pack_padded_sequence(torch.zeros(1, n, 1, device="cpu"), lengths, enforce_sorted=False)
    assert packed.sorted_indices is not None  # it is None with enforce_sorted=True alone
    return tuple(packed.sorted_indices.tolist())


@cache
def first_unstable() -> int | None:
    """Return the smallest n up to 64 whose equal lengths torch does not leave as they came; None without one."""
    return next((n for n in range(1, 65) if order_of_equals(n) != tuple(range(n))), None)


def ties(trace: Trace) -> tuple[Tie, ...]:
    """Return every length that at least two sequences of the batch have, the longest first."""
    order, lengths = trace.sorted.order.tolist(), trace.sorted.lengths.tolist()
    groups: dict[int, list[int]] = {}
    for b, length in zip(order, lengths, strict=True):
        groups.setdefault(length, []).append(b)
    return tuple(Tie(length, tuple(group)) for length, group in groups.items() if len(group) > 1)
