"""The lengths, before any data is looked at: one whole number from 1 to T for each sequence."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.errors import PackvizError, first_line
from packviz.inputs.module import dtype_name
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case
from packviz.rules.evidence import MAX_CELLS, described, layout_obstacle, numbers, pack_cells, unpack_or_say
from packviz.rules.finding import Finding, places, raise_first, refused
from packviz.rules.preconditions import refusal_of
from packviz.rules.repairs import recounted, turned
from packviz.text import counted, letters, listed

__all__ = ["ReadLengths", "check_lengths", "known_lengths", "lengths_of", "order_refusal"]

_TENSOR = "import torch\n\nlengths = torch.as_tensor(lengths)"


@dataclass(frozen=True)
class ReadLengths:
    """Hold the lengths as torch takes them, whole numbers; None where nothing more can be said of them."""

    findings: tuple[Finding, ...]
    values: list[int] | None


def lengths_of(case: Case, B: int, T: int) -> Tensor:
    """Return the lengths as a new (B,) int64 tensor; raises PackvizError for the first thing that is wrong with them.

    Their order is no such thing: see order_refusal().
    """
    if case.lengths is None:
        raise PackvizError(
            "lengths",
            expected=f"{B} lengths beside a padded tensor",
            came="None, with which the module would run every pad as if it were a token",
            mend=f"give one length for each sequence; lengths=[{T}] * {B} if nothing is padded",
        )
    read = check_lengths(case, B, T)
    raise_first(read.findings)
    return torch.tensor(read.values, device="cpu")


def order_refusal(lengths: Tensor, T: int) -> str | None:
    """Return torch's own message where it refuses the order of the lengths (B,) with enforce_sorted=True, else None."""
    error = ask(lambda: pack_cells(len(lengths), T, lengths, enforce_sorted=True)).error
    return None if error is None else str(error)


def known_lengths(name: str, lengths: object) -> list[int]:
    """Return lengths as whole numbers, as torch reads them; raises PackvizError where there are none to read."""
    given = _read(name, lengths)
    if isinstance(given, list):
        return given
    if given.device.type == "meta" or given.is_complex() or given.numel() > MAX_CELLS:
        raise refusal_of(name, "one whole number for each sequence", given, "give a list of whole numbers")
    values: list[int] = given.to(torch.int64).flatten().tolist()
    return values


def check_lengths(case: Case, B: int, T: int) -> ReadLengths:
    """Check kind, number and range of the lengths of B sequences with T steps."""
    given = _read("lengths", case.lengths)
    if isinstance(given, Tensor):
        unusable = _form(given, B, T, case)
        if unusable is not None:
            return ReadLengths((unusable,), None)
        if given.is_floating_point() and len(given) == B and (shares := _relative(given, T, case)):
            return ReadLengths((shares,), None)
        values = given.to(torch.int64).tolist()
        findings = _whole(given, values)
    else:
        values, findings = given, []
    if len(values) == B and values and min(values) >= 1 and max(values) <= T:
        return ReadLengths((*findings, *_order(values, T, case)), values)
    if len(values) != B:
        return ReadLengths((*findings, _count(values, B, T, case)), None)
    findings += _too_short(values, T) + _too_long(values, T, case) + _order(values, T, case)
    return ReadLengths(tuple(findings), None)


def _read(name: str, lengths: object) -> list[int] | Tensor:
    """Return a plain list of whole numbers as it is, anything else as a tensor; raises PackvizError for neither."""
    if type(lengths) is list and all(type(length) is int and abs(length) < 2**62 for length in lengths):
        return lengths
    if isinstance(lengths, Tensor) and layout_obstacle(lengths):
        raise refusal_of(name, "a dense tensor", lengths, "give a list of whole numbers or an int64 tensor")
    try:
        return torch.as_tensor(lengths, device=lengths.device if isinstance(lengths, Tensor) else "cpu")
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        came = f"{described(lengths)} ({first_line(error)})"
        mend = "give a list of whole numbers or an int64 tensor"
        raise PackvizError(name, expected="one whole number for each sequence", came=came, mend=mend) from None


def _pack(case: Case, lengths: object, *, enforce_sorted: bool = False) -> Answer[PackedSequence]:
    x = case.x
    assert x is not None
    return ask(lambda: pack_padded_sequence(x.detach(), lengths, case.batch_first, enforce_sorted))  # type: ignore[arg-type]


def _form(given: Tensor, B: int, T: int, case: Case) -> Finding | None:
    """Return what is wrong with the tensor itself: where it is, and its dimensions."""
    if given.dtype.is_complex:
        raise refusal_of("lengths", "whole numbers", given, "give a list of whole numbers")
    on_cpu = given.device.type == "cpu"
    if on_cpu and given.dim() == 1:
        return None
    repair = f"{_TENSOR}.reshape(-1)" if on_cpu else "lengths = lengths.cpu()"
    if given.device.type == "meta":
        repair = f"lengths = [{T}] * {B}  # a meta tensor holds no numbers: put the real ones here"
    return refused(
        "lengths_dim" if on_cpu else "lengths_device",
        "lengths",
        _pack(case, given, enforce_sorted=case.enforce_sorted),
        expected=f"{B} lengths as a list, or a 1-D tensor on the CPU",
        got=described(given) if on_cpu else f"{described(given)} on {given.device}",
        fix=f"give {B} lengths in one row" if on_cpu else "copy it with lengths.cpu()",
        repair=repair,
        severity="error",
    )


def _relative(given: Tensor, T: int, case: Case) -> Finding | None:
    """Return the finding for lengths that are shares of the longest, as some toolkits have them: 0 < share <= 1."""
    if T == 1 or bool((given == 1).all()) or not bool(((given > 0) & (given <= 1)).all()) or given.max() < 1 - 1e-3:
        return None
    return refused(
        "relative_lengths",
        "lengths",
        _pack(case, given),
        expected="whole numbers of time steps",
        got=f"shares of T = {T}: {numbers(given)}",
        fix="multiply them by T and round",
        silently="cuts them to 0 and 1 without a word",
        repair=f"{_TENSOR}\nlengths = (lengths.double() * x.size({case.steps_axis})).round().long()",
    )


def _whole(given: Tensor, values: list[int]) -> list[Finding]:
    if not (given.dtype.is_floating_point or given.dtype == torch.bool):
        return []
    came = given.tolist()
    cut = [b for b, length in enumerate(came) if length != values[b]]
    does = "cuts" if cut else "converts"
    kept = numbers(torch.tensor(values))
    finding = refused(
        "float_lengths",
        "lengths",
        Answer(values),
        expected="whole numbers",
        got=_of([f"{came[b]:g}" for b in cut], cut) if cut else f"{numbers(given)} in {dtype_name(given.dtype)}",
        fix="convert them yourself: lengths.long(), or int() for a list",
        silently=f"{does} them to {kept} without a word",
        where=places(cut),
        repair=f"{_TENSOR}.round().long()  # better: count the steps, and never divide" if cut else f"{_TENSOR}.long()",
        severity="silent" if cut else "note",
        sequences=cut,
    )
    return [finding]


def _count(values: list[int], B: int, T: int, case: Case) -> Finding:
    """Tell lengths that belong to the other dimension from lengths that are simply too few or too many."""
    number, missing = len(values), range(len(values), B)

    def packed_words(packed: PackedSequence) -> str:
        dropped = f" and drops {places(missing)}" if missing else ""
        return f"packs {counted(int(packed.batch_sizes[0]), 'sequence')} without an error{dropped}"

    other_layout = number == T and number > 0 and max(values) <= B
    where = places(missing) if missing else f"the last {number - B} of the lengths"
    other = f"; read with batch_first={not case.batch_first}, x has {counted(T, 'sequence')}" if other_layout else ""
    return refused(
        "batch_first" if other_layout else "wrong_count",
        "lengths",
        _pack(case, case.lengths, enforce_sorted=case.enforce_sorted),
        expected=f"{counted(B, 'length')}, one for each sequence",
        got=f"{number}{other}",
        fix=f"give {counted(B, 'length')}; if x is laid out the other way round, mind batch_first",
        silently=packed_words,
        where="every sequence" if other_layout else where,
        repair=turned(case) if other_layout else recounted(case),
        sequences=() if other_layout else missing,
    )


def _too_short(values: list[int], T: int) -> list[Finding]:
    keep = "x = x[keep] if batch_first else x[:, keep]"
    found = []
    for key, rows in (
        ("zero_length", [b for b, length in enumerate(values) if length == 0]),
        ("negative_length", [b for b, length in enumerate(values) if length < 0]),
    ):
        if not rows:
            continue
        shown = [values[b] for b in rows]
        finding = refused(
            key,
            "lengths",
            ask(lambda shown=shown: pack_cells(len(shown), T, shown, enforce_sorted=False)),  # type: ignore[misc]
            expected="lengths of at least 1",
            got=_of(shown, rows),
            fix="leave that sequence out, or pack with lengths.clamp(min=1) and mask what comes out of it",
            where=places(rows),
            repair=f"{_TENSOR}\nkeep = lengths > 0\n{keep}\nlengths = lengths[keep]",
            sequences=rows,
        )
        found.append(finding)
    return found


def _too_long(values: list[int], T: int, case: Case) -> list[Finding]:
    rows = [b for b, length in enumerate(values) if length > T]
    if not rows:
        return []
    shown = [max(length, 1) for length in values]
    too_many = max(shown) > MAX_CELLS
    finding = refused(
        "length_over_T",
        "lengths",
        Answer(unasked=f"batch_sizes would have {max(shown):,} entries") if too_many else _pack(case, shown),
        expected=f"lengths of at most T = {T}",
        got=_of([values[b] for b in rows], rows),
        fix="compute the lengths before padding or truncating, or cut them with lengths.clamp(max=T)",
        silently=_inconsistent,
        where=places(rows, [T] * len(rows)),
        repair=f"{_TENSOR}.clamp(max=x.size({case.steps_axis}))",
        sequences=rows,
        timesteps=[T] * len(rows),
    )
    return [finding]


def _inconsistent(packed: PackedSequence) -> str:
    rows, sizes = len(packed.data), packed.batch_sizes
    too_large = int(sizes[0]) * len(sizes) > MAX_CELLS
    unpacked = "" if too_large else f", and pad_packed_sequence then {unpack_or_say(packed)}"
    return f"packs {rows} rows without a word, with batch_sizes that sum to {int(sizes.sum())}{unpacked}"


def _order(values: list[int], T: int, case: Case) -> list[Finding]:
    if not case.enforce_sorted or values == sorted(values, reverse=True):
        return []
    cut = [min(max(length, 1), T) for length in values]
    answer = ask(lambda: pack_cells(len(cut), T, cut, enforce_sorted=True))
    if answer.error is None:
        return []
    b = next(b for b in range(1, len(values)) if values[b] > values[b - 1])
    found = f"The lengths are not in decreasing order: {values[b]} comes after {values[b - 1]}."
    return [Finding("unsorted", "error", found, places((b,)), answer.does(""), "enforce_sorted = False", (b,))]


def _of(values: list[int] | list[str], rows: list[int]) -> str:
    """Return lengths with the letters of their sequences: "6 for sequence A"."""
    return f"{listed(values)} for sequence{'' if len(rows) == 1 else 's'} {letters(rows)}"
