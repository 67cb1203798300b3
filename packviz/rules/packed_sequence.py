"""A PackedSequence from outside: whether its four fields fit each other, and what was packed.

Nothing of torch is called on batch_sizes that are not sound: with some of them it aborts the whole process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from packviz.errors import PackvizError
from packviz.inputs.packed_rows import as_grid, packed_lengths
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case
from packviz.rules.evidence import MAX_CELLS, described, frozen_copy, numbers, tensor_obstacle, unpack_or_say
from packviz.rules.finding import Finding, places, raise_first, refused
from packviz.rules.lengths import known_lengths
from packviz.rules.module_input import check_input
from packviz.rules.nonfinite import all_finite, check_finite_rows
from packviz.rules.padding_value import peaks, real_cells
from packviz.rules.pads import packed_pads
from packviz.rules.preconditions import check_unpacked_size
from packviz.text import counted

__all__ = ["check_indices", "check_packed", "check_sizes", "packed_of"]

_ABORTS: Answer[object] = Answer(
    unasked="pad_packed_sequence can abort the whole process on such batch_sizes, and no exception comes before"
)
_BUILD = "let pack_padded_sequence or pack_sequence build it"
_KEEP = "keep the indices that belong to it, for example with packed._replace(data=...)"
_REPACK = (
    "from torch.nn.utils.rnn import pack_padded_sequence\n\n"
    "packed = pack_padded_sequence(x, lengths, batch_first=batch_first, enforce_sorted=False)"
)
_FROM_SORTED = (
    "import torch\nfrom torch.nn.utils.rnn import PackedSequence\n\n"
    "packed = PackedSequence(packed.data, packed.batch_sizes, packed.sorted_indices)  # torch inverts them"
)
_FROM_UNSORTED = _FROM_SORTED.replace("packed.sorted_indices)", "packed.unsorted_indices.argsort())")
_NEVER_SORTED = (
    "from torch.nn.utils.rnn import PackedSequence\n\n"
    "packed = PackedSequence(packed.data, packed.batch_sizes)  # the order in which they stand"
)


def packed_of(case: Case) -> PackedSequence:
    """Return a copy with data (N, F); raises PackvizError where the fields do not fit each other, or the module."""
    packed = case.packed
    assert packed is not None
    for name, value in zip(PackedSequence._fields, packed, strict=True):
        if name == "data" or (value is not None and name != "batch_sizes"):
            came = tensor_obstacle(value) if isinstance(value, Tensor) else described(value)
            mend = "convert it, for example with x.cpu()" if isinstance(value, Tensor) else _BUILD
            if came:
                raise PackvizError(f"x.{name}", expected="a dense tensor on the CPU", came=came, mend=mend)
    for rule in (check_sizes, check_indices):
        raise_first(rule(packed))
    raise_first(check_input(case))
    return PackedSequence(*(None if field is None else frozen_copy(field) for field in packed))  # type: ignore[arg-type]


def check_packed(case: Case) -> tuple[list[Finding], bool]:
    """Return the findings, and whether the packed sequence is sound enough to be given to torch."""
    packed = case.packed
    assert packed is not None
    if unsound := check_sizes(packed) or check_indices(packed):
        return unsound, False
    check_unpacked_size(packed)
    meta = any(field is not None and field.device.type == "meta" for field in packed)
    found = [] if case.lengths is None or meta else _check_original_order(packed, case.lengths)
    if meta:
        return found, True
    told, data = case.padding_value, packed.data
    if not data.numel():
        what = f"packed.data has shape {tuple(data.shape)}: there is nothing in it."
        return [*found, Finding("empty_batch", "note", what, "packed.data", unpack_or_say(packed), _REPACK)], True
    largest = peaks(data.unsqueeze(0))[0]
    found += [] if all_finite(largest) else check_finite_rows(packed)
    real = real_cells(data.unsqueeze(0), told)[0] if told else largest != 0
    return (found if bool(real.all()) else found + _pads(packed, real, told)), True


def check_sizes(packed: PackedSequence) -> list[Finding]:
    """Check batch_sizes by themselves, and against the rows of data."""
    sizes, data = packed.batch_sizes, packed.data
    if not isinstance(sizes, Tensor) or sizes.dim() != 1 or sizes.dtype != torch.int64 or sizes.device.type != "cpu":
        return [_sizes("batch_sizes_kind", "a 1-D int64 tensor on the CPU", described(sizes))]
    counts = sizes.tolist()
    rows = len(data) if data.dim() else 0
    if not counts:
        return [_sizes("batch_sizes_empty", "at least one time step", "none")]
    if min(counts) >= 1 and counts == sorted(counts, reverse=True):
        return [] if sum(counts) == rows else [_rows_differ(packed, counts, rows)]
    found = []
    if min(counts) < 1:
        t = next(t for t, count in enumerate(counts) if count < 1)
        found.append(
            _sizes("batch_sizes_below_1", "at least one row in each time step", f"{counts[t]} at t = {t}", [t])
        )
    grows = [t for t in range(1, len(counts)) if counts[t] > counts[t - 1]]
    if grows:
        t = grows[0]
        got = f"{counts[t]} after {counts[t - 1]} at t = {t}"
        found.append(_sizes("batch_sizes_grow", "numbers that never increase", got, grows))
    return found


def _sizes(key: str, expected: str, got: str, steps: Sequence[int] = ()) -> Finding:
    return refused(
        key,
        "x.batch_sizes",
        _ABORTS,
        expected=expected,
        got=got,
        fix=_BUILD,
        repair=_REPACK,
        where=f"t = {steps[0]}" if steps else "batch_sizes",
        severity="error",
        timesteps=steps,
    )


def _rows_differ(packed: PackedSequence, counts: list[int], rows: int) -> Finding:
    total, cells = sum(counts), counts[0] * len(counts)
    t = next((t for t, so_far in enumerate(accumulate(counts)) if so_far > rows), len(counts))
    if cells * max(packed.data.numel() // max(rows, 1), 1) > MAX_CELLS or total > MAX_CELLS:
        answer: Answer[tuple[Tensor, Tensor]] = Answer(unasked=f"the unpacked grid would have {cells:,} cells")
    elif packed.data.device.type == "meta":
        answer = Answer(unasked="a meta tensor holds no numbers")
    else:
        bare = PackedSequence(packed.data.detach().cpu(), packed.batch_sizes)  # as torch takes it, no index in the way
        answer = ask(lambda: pad_packed_sequence(bare, batch_first=True))
    return refused(
        "rows_differ",
        "x.batch_sizes",
        answer,
        expected=f"a sum of {counted(rows, 'row')}, as many as data has",
        got=f"a sum of {total:,}",
        fix=_BUILD,
        silently=lambda done: f"takes it as it is; pad_packed_sequence unpacks {numbers(done[1])}",
        where=f"from t = {t} on" if total > rows else f"{counted(rows - total, 'row')} at the end",
        repair=_REPACK,
        timesteps=[t] if total > rows else [],
    )


def check_indices(packed: PackedSequence) -> list[Finding]:
    """Check sorted_indices and unsorted_indices: both or neither, permutations, each other's inverse."""
    forth, back = packed.sorted_indices, packed.unsorted_indices
    if forth is None and back is None:
        return []
    if forth is None or back is None:
        missing = "sorted_indices" if forth is None else "unsorted_indices"
        return [_indices("indices_missing", packed, missing, "both index tensors, or neither", "None")]
    if forth.device.type == "meta" or back.device.type == "meta":
        return []
    B = int(packed.batch_sizes[0])
    for name, indices in (("sorted_indices", forth), ("unsorted_indices", back)):
        if not _permutes(indices, B):
            got = numbers(indices) if indices.dtype == torch.int64 and indices.dim() == 1 else described(indices)
            expected = f"a permutation of the {counted(B, 'sequence')}, (B,) int64"
            return [_indices("indices_no_permutation", packed, name, expected, got)]
    wrong = (forth[back] != torch.arange(B, device=forth.device)).nonzero().flatten().tolist()
    expected = f"the inverse of sorted_indices {numbers(forth)}"
    return (
        [_indices("indices_not_inverse", packed, "unsorted_indices", expected, numbers(back), wrong)] if wrong else []
    )


def _indices(
    key: str, packed: PackedSequence, name: str, expected: str, got: str, sequences: Sequence[int] = ()
) -> Finding:
    other = packed.unsorted_indices if name == "sorted_indices" else packed.sorted_indices
    repair = _NEVER_SORTED
    if other is not None and _permutes(other, int(packed.batch_sizes[0])):
        repair = _FROM_UNSORTED if name == "sorted_indices" else _FROM_SORTED
    return refused(
        key,
        f"x.{name}",
        _unpacking(packed),
        expected=expected,
        got=got,
        fix=_KEEP,
        silently=_lengths_of,
        where=places(sequences) or name,
        repair=repair,
        sequences=sequences,
    )


def _permutes(indices: Tensor, B: int) -> bool:
    if indices.dim() != 1 or indices.dtype != torch.int64 or len(indices) != B or indices.device.type == "meta":
        return False
    return sorted(indices.tolist()) == list(range(B))


def _check_original_order(packed: PackedSequence, lengths: object) -> list[Finding]:
    """Compare the lengths (B,) that the caller has, in the order of the sequences, with those that were packed."""
    original = known_lengths("lengths", lengths)
    packed_as = packed_lengths(packed)
    if original == packed_as:
        return []
    rows = tuple(b for b, (one, other) in enumerate(zip(original, packed_as, strict=False)) if one != other)
    says, shown = _unpacking(packed).does(_lengths_of), numbers(torch.tensor(original))
    if sorted(original, reverse=True) == packed_as and packed.sorted_indices is None:
        found = f"sorted_indices is None, but the lengths {shown} are not in decreasing order."
        repair = (
            "import torch\nfrom torch.nn.utils.rnn import PackedSequence\n\n"
            "order = torch.as_tensor(lengths).argsort(descending=True)  # among equal lengths: take the true ones\n"
            "packed = PackedSequence(packed.data, packed.batch_sizes, order.to(packed.data.device))"
        )
        return [Finding("indices_lost", "silent", found, places(rows), says, repair, rows)]
    found = f"The lengths are {shown}, packed were {numbers(torch.tensor(packed_as))}."
    if len(original) != len(packed_as):
        found = f"{found} {counted(len(original), 'length')} for {counted(len(packed_as), 'sequence')}."
    where = places(rows) or "the end of the lengths"
    repair = (
        "from torch.nn.utils.rnn import pad_packed_sequence\n\n"
        "_, lengths = pad_packed_sequence(packed)  # those that were packed"
    )
    return [Finding("packed_lengths_differ", "silent", found, where, says, repair, rows)]


def _unpacking(packed: PackedSequence) -> Answer[tuple[Tensor, Tensor]]:
    """Unpack on the CPU, with one column for the data."""

    def unpack() -> tuple[Tensor, Tensor]:
        forth, back = (None if index is None else index.detach().cpu() for index in packed[2:])
        column = torch.zeros(int(packed.batch_sizes.sum()), 1)
        return pad_packed_sequence(packed._replace(data=column, sorted_indices=forth, unsorted_indices=back))

    return ask(unpack)


def _lengths_of(unpacked: tuple[Tensor, Tensor]) -> str:
    return f"unpacks sequences of lengths {numbers(unpacked[1])}"


def _pads(packed: PackedSequence, real: Tensor, told: float | None) -> list[Finding]:
    """Look at the sequences' ends: unpack the flags, and the data only where some are pads."""
    flags, lengths = as_grid(packed._replace(data=real))
    ends = (flags * torch.arange(1, flags.size(1) + 1, device=flags.device)).amax(1).tolist()
    if all(end in (0, length) for end, length in zip(ends, lengths, strict=True)) and told is None:
        return []
    values, _ = as_grid(packed._replace(data=packed.data.detach()))
    grid = (
        "import torch\nfrom torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\n\n"
        f"grid, _ = pad_packed_sequence(packed, batch_first=True)\npad = {told or 0!r}\n"
        "real = (grid != pad).reshape(*grid.shape[:2], -1).any(-1)  # (B, T)\n"
        "lengths = (real * torch.arange(1, real.size(1) + 1, device=real.device)).amax(1).clamp(min=1).cpu()\n"
        "packed = pack_padded_sequence(grid, lengths, batch_first=True, enforce_sorted=False)"
    )
    found = packed_pads(values, flags, lengths, f"{told or 0:g}", told=told is not None, repair=grid)
    if found is None:
        return []
    return [replace(found, torch_does=f"{found.torch_does}; packed.data has {counted(int((~real).sum()), 'such row')}")]
