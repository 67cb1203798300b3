"""The lengths, before any data is looked at: one whole number from 1 to T for each sequence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.checks.evidence import described
from packviz.doctor.asking import MOST_CELLS, answer, numbers, pack_cells, refusal, unpack_or_say
from packviz.doctor.case import Case
from packviz.doctor.finding import Finding, counted, listed, places, severity_of
from packviz.doctor.refusing import is_dense, refusal_of
from packviz.doctor.repairs import recounted, turned
from packviz.errors import PackvizError
from packviz.modules import dtype_name

__all__ = ["ReadLengths", "check_lengths", "known_lengths", "whole_lengths"]

_TENSOR = "import torch\n\nlengths = torch.as_tensor(lengths)"


@dataclass(frozen=True)
class ReadLengths:
    """Hold the lengths as torch takes them, whole numbers; None where nothing more can be said of them."""

    findings: tuple[Finding, ...]
    values: list[int] | None


def whole_lengths(name: str, lengths: object) -> list[int] | Tensor:
    """Return a plain list of whole numbers as it is, anything else as a tensor; raises PackvizError for neither."""
    if type(lengths) is list and all(type(length) is int and abs(length) < 2**62 for length in lengths):
        return lengths
    if isinstance(lengths, Tensor) and not is_dense(lengths):
        raise refusal_of(name, "a dense tensor", lengths, "give a list of whole numbers or an int64 tensor")
    try:
        return torch.as_tensor(lengths, device=lengths.device if isinstance(lengths, Tensor) else "cpu")
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        came = f"{described(lengths)} ({str(error).splitlines()[0]})"
        mend = "give a list of whole numbers or an int64 tensor"
        raise PackvizError(name, expected="one whole number for each sequence", came=came, mend=mend) from None


def known_lengths(name: str, lengths: object) -> list[int]:
    """Return lengths as whole numbers, as torch reads them; raises PackvizError where there are none to read."""
    given = whole_lengths(name, lengths)
    if isinstance(given, list):
        return given
    if given.device.type == "meta" or given.is_complex() or given.numel() > MOST_CELLS:
        raise refusal_of(name, "one whole number for each sequence", given, "give a list of whole numbers")
    values: list[int] = given.to(torch.int64).flatten().tolist()
    return values


def check_lengths(case: Case, B: int, T: int) -> ReadLengths:
    """Check kind, number and range of the lengths of B sequences with T steps."""
    given = whole_lengths("lengths", case.lengths)
    if isinstance(given, Tensor):
        unusable = _form(given, B, T, case)
        if unusable is not None:
            return ReadLengths((unusable,), None)
        values = given.to(torch.int64).tolist()
        findings = _whole(given, values)
    else:
        values, findings = given, []
    if len(values) == B and values and min(values) >= 1 and max(values) <= T:
        return ReadLengths((*findings, *_order(values, T, case)), values)
    if len(values) != B:
        return ReadLengths((*findings, _count(given, len(values), B, T, case)), None)
    findings += _too_short(values, T)
    findings += _too_long(values, T, case)
    findings += _order(values, T, case)
    return ReadLengths(tuple(findings), None)


def _pack(case: Case, lengths: object, *, enforce_sorted: bool) -> PackedSequence:
    assert case.x is not None
    return pack_padded_sequence(case.x.detach(), lengths, case.batch_first, enforce_sorted)  # type: ignore[arg-type]


def _form(given: Tensor, B: int, T: int, case: Case) -> Finding | None:
    """Return what is wrong with the tensor itself: where it is, and its dimensions."""
    if given.dtype.is_complex:
        raise refusal_of("lengths", "whole numbers", given, "give a list of whole numbers")
    if given.device.type == "cpu" and given.dim() == 1:
        return None
    told = "torch asks for a 1-D tensor on the CPU"
    says = answer(lambda: _pack(case, given, enforce_sorted=case.enforce_sorted), lambda _: "takes them")
    if given.device.type != "cpu":
        if given.device.type == "meta":
            repair = f"lengths = [{T}] * {B}  # a meta tensor holds no numbers: put the real ones here"
        else:
            repair = "lengths = lengths.cpu()"
        found = f"The lengths are on {given.device}; {told}, wherever x is."
        return Finding("lengths_device", "error", found, "the lengths", says, repair)
    found = f"The lengths have shape {tuple(given.shape)}; {told}."
    return Finding("lengths_dim", "error", found, "the lengths", says, f"{_TENSOR}.reshape(-1)")


def _whole(given: Tensor, values: list[int]) -> list[Finding]:
    if not (given.dtype.is_floating_point or given.dtype == torch.bool):
        return []
    came = given.tolist()
    cut = [b for b, length in enumerate(came) if length != values[b]]
    kind = dtype_name(given.dtype)
    if not cut:
        found = f"The lengths are {kind}, though whole: {numbers(given)}."
        does = f"converts them to int64 without a word: {numbers(torch.tensor(values))}"
        return [Finding("float_lengths", "note", found, "the lengths", does, f"{_TENSOR}.long()")]
    found = f"The lengths are {kind}, and not whole: {listed([f'{came[b]:g}' for b in cut])}."
    does = f"cuts them to {numbers(torch.tensor(values))} without a word"
    repair = f"{_TENSOR}.round().long()  # better: count the steps, and never divide"
    return [Finding("float_lengths", "silent", found, places(cut), does, repair, tuple(cut))]


def _count(given: list[int] | Tensor, number: int, B: int, T: int, case: Case) -> Finding:
    """Tell lengths that belong to the other dimension from lengths that are simply too few or too many."""
    values = given if isinstance(given, list) else given.tolist()

    def packed_words(packed: PackedSequence) -> str:
        kept, gone = int(packed.batch_sizes[0]), range(number, B)
        dropped = f" and drops {places(gone)}" if gone else ""
        return f"packs {counted(kept, 'sequence')} without an error{dropped}"

    says = answer(lambda: _pack(case, given, enforce_sorted=case.enforce_sorted), packed_words)
    silent = severity_of(says)
    other = f"batch_first={not case.batch_first}"
    if number == T and number > 0 and max(values) <= B:
        shape = tuple(case.x.shape) if case.x is not None else (B, T)
        found = (
            f"There are {number} lengths, and x of shape {shape} is read as {counted(B, 'sequence')} of "
            f"{counted(T, 'step')}. Read with {other} it has {counted(T, 'sequence')}."
        )
        return Finding("batch_first", silent, found, "every sequence", says, turned(case))
    found = f"There are {counted(number, 'length')} for {counted(B, 'sequence')}."
    missing = tuple(range(number, B))
    where = places(missing) if missing else f"the last {number - B} of the lengths"
    return Finding("wrong_count", silent, found, where, says, recounted(case), missing)


def _too_short(values: list[int], T: int) -> list[Finding]:
    keep = "x = x[keep] if batch_first else x[:, keep]"
    repair = f"{_TENSOR}\nkeep = lengths > 0\n{keep}\nlengths = lengths[keep]"
    found = []
    for key, rows in (
        ("zero_length", [b for b, length in enumerate(values) if length == 0]),
        ("negative_length", [b for b, length in enumerate(values) if length < 0]),
    ):
        if rows:
            shown = [values[b] for b in rows]
            says = answer(partial(pack_cells, len(shown), T, shown, enforce_sorted=False), lambda _: "takes them")
            what = f"{counted(len(rows), 'length')} below 1: {listed(shown)}."
            found.append(Finding(key, "error", what, places(rows), says, repair, tuple(rows)))
    return found


def _too_long(values: list[int], T: int, case: Case) -> list[Finding]:
    rows = [b for b, length in enumerate(values) if length > T]
    if not rows:
        return []
    shown = [max(length, 1) for length in values]
    what = f"{counted(len(rows), 'length')} longer than T = {T}: {listed([values[b] for b in rows])}."
    if max(shown) > MOST_CELLS:
        says = f"was not asked: batch_sizes would have {max(shown):,} entries"
    else:
        says = answer(lambda: _pack(case, shown, enforce_sorted=False), _inconsistent)
    silent = severity_of(says)
    repair = f"{_TENSOR}.clamp(max=x.size({case.steps_axis}))"
    return [
        Finding(
            "length_over_T", silent, what, places(rows, [T] * len(rows)), says, repair, tuple(rows), (T,) * len(rows)
        )
    ]


def _inconsistent(packed: PackedSequence) -> str:
    rows, sizes = len(packed.data), packed.batch_sizes
    unpacked = (
        "" if int(sizes[0]) * len(sizes) > MOST_CELLS else f", and pad_packed_sequence then {unpack_or_say(packed)}"
    )
    return f"packs {rows} rows without a word, with batch_sizes that sum to {int(sizes.sum())}{unpacked}"


def _order(values: list[int], T: int, case: Case) -> list[Finding]:
    if not case.enforce_sorted or values == sorted(values, reverse=True):
        return []
    cut = [min(max(length, 1), T) for length in values]
    says = refusal(lambda: pack_cells(len(cut), T, cut, enforce_sorted=True))
    b = next(b for b in range(1, len(values)) if values[b] > values[b - 1])
    if says is None:
        return []
    found = f"The lengths are not in decreasing order: {values[b]} comes after {values[b - 1]}."
    return [Finding("unsorted", "error", found, places((b,)), says, "enforce_sorted = False", (b,))]
