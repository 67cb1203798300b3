"""Decides whether the data have the dimensions, dtype and device of the module, and a length from 1 to T each."""

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from packviz.inputs.module import run_module
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case, has_one_length_each, rule
from packviz.rules.finding import Fault, Severity
from packviz.rules.preconditions import MAX_CELLS
from packviz.rules.words import Said
from packviz.text import numbers

_AUTOCAST = {torch.float32, torch.bfloat16, torch.float16}  # what it converts


@rule("x", stops=True, refuses=True)
def has_cells(case: Case) -> Iterator[Fault]:
    """Find a grid without cells, or with fewer than two dimensions."""
    x = case.data
    if x.dim() > 1 and x.numel():
        return
    ones = [1] * (len(x) if x.dim() == 1 and len(x) <= MAX_CELLS else 1)
    answer = ask(lambda: pack_padded_sequence(x if x.device.type == "meta" else x.cpu(), ones, case.batch_first))
    flat = x.dim() < 2
    severity: Severity = "error" if flat or answer.error else "note"
    yield Fault("one_dimension" if flat else "empty_batch", answer, severity=severity)


@rule("module", refuses=True)
def data_fit_module(case: Case) -> Iterator[Fault]:
    """Find data that do not fit the module; torch is asked only if something does not."""
    module, data, weight = case.layer, case.data, case.weight
    dims = (2,) if case.packed is not None else (3,) if case.lengths is not None else (2, 3)
    if data.device != weight.device:
        answer = _run(case)
        yield Fault("data_device", answer, severity="error" if answer.error else "note")
    elif len(dims) == 1 and data.dim() == dims[0] - 1:
        one_sequence = data.dim() == 2 and data.size(1) == module.input_size
        yield Fault("no_feature_axis", _run(case), says=["one_sequence" if one_sequence else "numbers"])
    elif data.dtype != weight.dtype and ((answer := _run(case)).error or answer.unasked):  # else autocast converts it
        whole = not (data.is_floating_point() or data.is_complex())
        yield Fault("integer_data" if whole else "data_dtype", answer)
    elif data.dim() not in dims:
        layout: Said = "padded" if case.packed is None else "packed"
        yield Fault("data_dim", _run(case), says=[layout], extra=data.dim() - dims[-1])
    elif data.size(-1) != module.input_size:
        yield Fault("features", _run(case))


def _run(case: Case) -> Answer[object]:
    """Return what torch says when the module is called with these data."""
    module, x, lengths = case.layer, case.x, case.lengths
    if _overreads(case):
        reason = "it does not check the features of a packed LSTM, and can read past the end of data or weights"
        return Answer(unasked=reason)
    if x is None or lengths is None:
        given: Tensor | PackedSequence | None = case.packed if x is None else x
        return ask(lambda: run_module(module, given))  # type: ignore[type-var]

    def pack(lengths: object) -> PackedSequence:
        return pack_padded_sequence(x, lengths, case.batch_first, enforce_sorted=False)  # type: ignore[arg-type]

    if ask(lambda: pack(lengths)).error:  # one step of each sequence is enough here
        lengths = [1] * x.size(1 - case.steps_axis)
    return ask(lambda: run_module(module, pack(lengths)))


def _overreads(case: Case) -> bool:
    """Return whether torch can read past the end of data or weights: it checks no features of a packed LSTM.

    Where all lengths are equal, such a batch goes to oneDNN, which takes its bytes as they are.
    """
    data, weight = case.data, case.weight
    if not case.runs_packed_lstm or data.is_meta:
        return False
    numbers = data.shape[: 2 if case.packed is None else 1].numel() * case.layer.input_size  # that torch reads
    if data.numel() > numbers:  # the weights are too few for such data
        return True
    if torch.is_autocast_enabled(data.device.type) and {data.dtype, weight.dtype} <= _AUTOCAST:
        return False  # it converts both to one dtype
    return data.numel() * data.element_size() < numbers * weight.element_size()


def order_refusal(lengths: Tensor, T: int) -> str | None:
    """Return torch's own message if it refuses the order of the lengths (B,) with enforce_sorted=True, else None."""
    error = ask(lambda: pack_cells(len(lengths), T, lengths, enforce_sorted=True)).error
    return None if error is None else str(error)


def pack_cells(B: int, T: int, lengths: object, *, enforce_sorted: bool) -> PackedSequence:
    """Return cell numbers (B, T), counted row by row, packed with the lengths as they were given."""
    cells = torch.arange(B * T, device="cpu").view(B, T)
    return pack_padded_sequence(cells, lengths, batch_first=True, enforce_sorted=enforce_sorted)  # type: ignore[arg-type]


def _pack(case: Case, lengths: object, *, enforce_sorted: bool = False) -> Answer[PackedSequence]:
    x = cast(Tensor, case.x).detach()
    return ask(lambda: pack_padded_sequence(x, lengths, case.batch_first, enforce_sorted))  # type: ignore[arg-type]


@rule("x", refuses=True)
def lengths_are_given(case: Case) -> Iterator[Fault]:
    """Find a padded x without lengths, if it is to be packed."""
    if case.traced and case.lengths is None:
        yield Fault("no_lengths")


@rule("x", "lengths", refuses=True)
def lengths_are_integers(case: Case) -> Iterator[Fault]:
    """Find lengths that are on another device, not one-dimensional, relative, or not integers."""
    if case.has_plain_lengths and case.lengths_device == "cpu":
        return
    given, whole = case.lengths_tensor, case.whole_lengths
    printed = given.device.type == "cpu" and case.lengths_device != "cpu"
    asked, device = (given.to("meta"), case.lengths_device) if printed else (given, str(given.device))
    if device != "cpu":
        answer = _pack(case, asked, enforce_sorted=case.enforce_sorted)
        yield Fault("lengths_device", answer, severity="error", says=["printed" if printed else "given"], device=device)
    elif given.dim() != 1:
        yield Fault("lengths_dim", _pack(case, given, enforce_sorted=case.enforce_sorted), severity="error")
    if whole is not None and (given.is_floating_point() or given.dtype == torch.bool):  # torch cuts or converts them
        read = given.tolist()
        cut = [b for b, length in enumerate(read) if length != whole[b]]
        if cut:
            yield Fault("fractional_lengths", Answer(whole), cut, severity="silent", cut=[f"{read[b]:g}" for b in cut])
        else:
            yield Fault("float_lengths", Answer(whole), severity="note")
    elif given.dim() == 1 and given.device.type == "cpu" and not bool(given.isfinite().all()):
        rows = (~given.isfinite()).nonzero().flatten().tolist()
        values = [f"{given[b]:g}" for b in rows]
        yield Fault("lengths_not_finite", _pack(case, case.lengths), rows, lengths=values)
    elif given.dim() == 1 and given.device.type == "cpu" and case.are_shares:
        yield Fault("relative_lengths", _pack(case, given))


@rule("x", "lengths", refuses=True)
def one_length_each(case: Case) -> Iterator[Fault]:
    """Find too few or too many lengths, and as many as the other dimension of x has."""
    whole, B, T = case.whole_lengths, case.B, case.T
    if whole is None or len(whole) == B:
        return
    answer = _pack(case, case.lengths, enforce_sorted=case.enforce_sorted)
    missing = range(len(whole), B)
    says: list[Said] = ["too_few" if missing else "too_many"]
    if len(whole) == T and max(whole) <= B:
        yield Fault("batch_first", answer, says=says, number=len(whole), missing=missing)
    else:
        yield Fault("wrong_count", answer, missing, says=says, number=len(whole), missing=missing, over=len(whole) - B)


@rule("x", "lengths", needs=(has_one_length_each,), refuses=True)
def lengths_at_least_1(case: Case) -> Iterator[Fault]:
    """Find lengths of 0 and below."""
    whole = cast("list[int]", case.whole_lengths)
    if zero := [b for b, length in enumerate(whole) if length == 0]:
        lengths = [0] * len(zero)
        yield Fault("zero_length", _pack_cells(case.T, lengths), zero, lengths=lengths)
    if below := [b for b, length in enumerate(whole) if length < 0]:
        lengths = [whole[b] for b in below]
        yield Fault("negative_length", _pack_cells(case.T, lengths), below, lengths=lengths)


def _pack_cells(T: int, lengths: list[int]) -> Answer[PackedSequence]:
    return ask(lambda: pack_cells(len(lengths), T, lengths, enforce_sorted=False))


@rule("x", "lengths", needs=(has_one_length_each,), refuses=True)
def lengths_at_most_T(case: Case) -> Iterator[Fault]:
    """Find lengths beyond T, which torch packs to an inconsistent object."""
    whole, T = cast("list[int]", case.whole_lengths), case.T
    longest = max(whole)
    if longest <= T:
        return
    rows = [b for b, length in enumerate(whole) if length > T]
    if longest > MAX_CELLS:
        answer: Answer[PackedSequence] = Answer(unasked=f"batch_sizes would have {longest:,} entries")
    else:
        answer = _pack(case, [max(length, 1) for length in whole])
    call, later, fails = _later(case, answer.result)
    yield Fault(
        "length_over_T",
        answer,
        rows,
        [T] * len(rows),
        fails_in=call if fails else "",
        says=["later" if later else "too_large"],
        lengths=[whole[b] for b in rows],
        call=call,
        later=later,
    )


def _later(case: Case, packed: PackedSequence | None) -> tuple[str, str, bool]:
    """Return the call that comes next, what it does, and whether it raises; "" if its grid would be too large."""
    if packed is None or int(packed.batch_sizes[0]) * len(packed.batch_sizes) > MAX_CELLS:
        return "", "", False
    call, module = "pad_packed_sequence", case.module
    data = packed.data
    if module is None or data.is_meta or data.dim() != 2 or data.size(1) != module.input_size:
        answer = ask(lambda: pad_packed_sequence(packed)[1])
    else:
        call, given = f"the {type(module).__name__}", packed._replace(data=data.to(case.weight))
        answer = ask(lambda: pad_packed_sequence(run_module(module, given)[0])[1])
    return call, answer.does(lambda lengths: f"unpacks {numbers(lengths)}"), answer.error is not None


@rule("x", "lengths", needs=(has_one_length_each,))
def lengths_decrease(case: Case) -> Iterator[Fault]:
    """Find lengths that torch refuses because they must be in decreasing order."""
    whole, T = cast("list[int]", case.whole_lengths), case.T
    if not case.enforce_sorted or whole == sorted(whole, reverse=True):
        return
    cut = [min(max(length, 1), T) for length in whole]
    answer = ask(lambda: pack_cells(len(cut), T, cut, enforce_sorted=True))
    if answer.error is not None:
        b = next(b for b in range(1, len(whole)) if whole[b] > whole[b - 1])
        yield Fault("unsorted", answer, [b], before=whole[b - 1], after=whole[b])
