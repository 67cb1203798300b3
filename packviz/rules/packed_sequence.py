"""Decides whether the four fields of a PackedSequence fit each other, and with which lengths it was packed.

Nothing of torch is called on batch_sizes that are not sound: with some of them it aborts the whole process.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from packviz.inputs.packed_rows import packed_lengths
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case, has_numbers, rule
from packviz.rules.finding import Fault
from packviz.rules.preconditions import MAX_CELLS, check_unpacked_size, known_lengths
from packviz.rules.words import Said
from packviz.text import numbers, shown

_ABORTS: Answer[object] = Answer(
    unasked="pad_packed_sequence can abort the whole process on such batch_sizes, before any exception"
)


@rule("packed", stops=True, refuses=True)
def fields_fit(case: Case) -> Iterator[Fault]:
    """Find fields that do not fit each other. Raises PackvizError for sound ones that are too large to examine."""
    packed = cast(PackedSequence, case.packed)
    faults = [*_batch_sizes(packed)] or [*_indices(packed)]
    yield from faults
    if not faults and not case.traced:
        check_unpacked_size(packed)


def _batch_sizes(packed: PackedSequence) -> Iterator[Fault]:
    """Find batch_sizes that are wrong by themselves, or do not sum to the rows of data."""
    sizes, data = packed.batch_sizes, packed.data
    if not isinstance(sizes, Tensor) or sizes.dim() != 1 or sizes.dtype != torch.int64 or sizes.device.type != "cpu":
        yield Fault("batch_sizes_kind", _ABORTS, severity="error", sizes=sizes)
        return
    counts = sizes.tolist()
    if not counts:
        yield Fault("batch_sizes_empty", _ABORTS, severity="error")
        return
    zeros = [t for t, count in enumerate(counts) if count < 1]
    if zeros:
        yield Fault("batch_sizes_below_1", _ABORTS, (), zeros[:1], severity="error", count=counts[zeros[0]])
    grows = [t for t in range(1, len(counts)) if counts[t] > counts[t - 1]]
    if grows:
        before, count = counts[grows[0] - 1 : grows[0] + 1]
        yield Fault("batch_sizes_grow", _ABORTS, (), grows, severity="error", before=before, count=count)
    rows = len(data) if data.dim() else 0
    if not zeros and not grows and sum(counts) != rows:
        yield _rows_differ(packed, counts, rows)


def _rows_differ(packed: PackedSequence, counts: list[int], rows: int) -> Fault:
    total, cells = sum(counts), counts[0] * len(counts)
    t = next((t for t, so_far in enumerate(accumulate(counts)) if so_far > rows), len(counts))
    answer: Answer[tuple[Tensor, Tensor]]
    if cells * max(packed.data.numel() // max(rows, 1), 1) > MAX_CELLS or total > MAX_CELLS:
        answer = Answer(unasked=f"the unpacked grid would have {cells:,} cells")
    elif packed.data.device.type == "meta":
        answer = Answer(unasked="a meta tensor holds no numbers")
    else:
        bare = PackedSequence(packed.data.detach().cpu(), packed.batch_sizes)  # without the indices
        answer = ask(lambda: pad_packed_sequence(bare, batch_first=True))
    says: Said = "too_few" if total > rows else "too_many"
    steps = [t] if total > rows else []
    return Fault("rows_differ", answer, (), steps, says=[says], have=rows, total=total, over=rows - total)


def _indices(packed: PackedSequence) -> Iterator[Fault]:
    """Find sorted_indices and unsorted_indices that are not permutations, or not each other's inverse."""
    forth, back = packed.sorted_indices, packed.unsorted_indices
    if forth is None and back is None:
        return
    if forth is None or back is None:
        yield _wrong_index("indices_missing", packed, forth is None)
        return
    if forth.is_meta or back.is_meta:
        return
    B = int(packed.batch_sizes[0])
    if not (_permutes(forth, B) and _permutes(back, B)):
        yield _wrong_index("indices_no_permutation", packed, not _permutes(forth, B))
        return
    wrong = (forth[back] != torch.arange(B, device=forth.device)).nonzero().flatten().tolist()
    if wrong:
        yield _wrong_index("indices_not_inverse", packed, False, wrong)


def _wrong_index(key: str, packed: PackedSequence, is_sorted_indices: bool, rows: Sequence[int] = ()) -> Fault:
    names = ("sorted_indices", "unsorted_indices")
    name, other = names if is_sorted_indices else names[::-1]
    known, index = _permutes(getattr(packed, other), int(packed.batch_sizes[0])), getattr(packed, name)
    written = numbers(index) if index is not None and index.dim() == 1 and index.dtype == torch.int64 else shown(index)
    return Fault(key, _unpacking(packed), rows, name=name, index=written, other_is_known=known)


def _permutes(indices: Tensor | None, B: int) -> bool:
    if indices is None or indices.dim() != 1 or indices.dtype != torch.int64 or len(indices) != B or indices.is_meta:
        return False
    return sorted(indices.tolist()) == list(range(B))


@rule("packed")
def data_are_there(case: Case) -> Iterator[Fault]:
    """Find packed data without numbers."""
    if not case.data.numel():
        yield Fault("empty_packed", severity="note")


@rule("packed", "lengths", needs=(has_numbers,))
def lengths_were_packed(case: Case) -> Iterator[Fault]:
    """Compare the lengths (B,) that the caller has, in the order of the sequences, with those that were packed."""
    packed = cast(PackedSequence, case.packed)
    original, packed_as = known_lengths("lengths", case.lengths), packed_lengths(packed)
    if original == packed_as:
        return
    rows = [b for b, (one, other) in enumerate(zip(original, packed_as, strict=False)) if one != other]
    lost = sorted(original, reverse=True) == packed_as and packed.sorted_indices is None
    if lost:
        yield Fault("indices_lost", _unpacking(packed), rows, severity="silent", original=original)
    else:
        answer, says = _unpacking(packed), list[Said]()
        says += [] if rows else ["at_the_end"]
        says += ["other_number"] if len(original) != len(packed_as) else []
        yield Fault(
            "packed_lengths_differ", answer, rows, severity="silent", says=says, original=original, packed_as=packed_as
        )


def _unpacking(packed: PackedSequence) -> Answer[tuple[Tensor, Tensor]]:
    """Unpack on the CPU, with one column for the data."""

    def unpack() -> tuple[Tensor, Tensor]:
        forth, back = (None if index is None else index.detach().cpu() for index in packed[2:])
        column = torch.zeros(int(packed.batch_sizes.sum()), 1, device="cpu")
        return pad_packed_sequence(packed._replace(data=column, sorted_indices=forth, unsorted_indices=back))

    return ask(unpack)
