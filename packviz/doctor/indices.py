"""The order of a packed sequence: its two index tensors, and the order in which the sequences came."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from packviz.checks.evidence import described
from packviz.doctor.asking import answer, numbers
from packviz.doctor.finding import Finding, counted, places, severity_of
from packviz.doctor.lengths import known_lengths
from packviz.doctor.rows import packed_lengths

__all__ = ["check_indices", "check_original_order"]

_FROM_SORTED = (
    "import torch\nfrom torch.nn.utils.rnn import PackedSequence\n\n"
    "packed = PackedSequence(packed.data, packed.batch_sizes, packed.sorted_indices)  # torch inverts them"
)
_FROM_UNSORTED = _FROM_SORTED.replace("packed.sorted_indices)", "packed.unsorted_indices.argsort())")
_NEVER_SORTED = (
    "from torch.nn.utils.rnn import PackedSequence\n\n"
    "packed = PackedSequence(packed.data, packed.batch_sizes)  # the order in which they stand"
)


def check_indices(packed: PackedSequence) -> list[Finding]:
    """Check sorted_indices and unsorted_indices: both or neither, permutations, each other's inverse."""
    forth, back = packed.sorted_indices, packed.unsorted_indices
    if forth is None and back is None:
        return []
    if forth is None or back is None:
        missing, other = ("sorted_indices", "unsorted_indices")[:: 1 if forth is None else -1]
        does = f"sorts h_0 by the one, and unpacks by the other: here it {_unpacks(packed)}"
        repair = _FROM_UNSORTED if forth is None else _FROM_SORTED
        return [
            Finding("indices_missing", "silent", f"{missing} is None, {other} is not.", "every sequence", does, repair)
        ]
    if forth.device.type == "meta" or back.device.type == "meta":
        return []
    B = int(packed.batch_sizes[0])
    for name, indices in (("sorted_indices", forth), ("unsorted_indices", back)):
        if not _permutes(indices, B):
            return [_no_permutation(packed, name, indices, B)]
    if bool((forth[back] == torch.arange(B, device=forth.device)).all()):
        return []
    wrong = (forth[back] != torch.arange(B, device=forth.device)).nonzero().flatten().tolist()
    found = f"unsorted_indices {numbers(back)} do not undo sorted_indices {numbers(forth)}."
    says = _unpacks(packed)
    return [Finding("indices_not_inverse", "silent", found, places(wrong), says, _FROM_SORTED, tuple(wrong))]


def check_original_order(packed: PackedSequence, lengths: object) -> list[Finding]:
    """Compare the lengths (B,) that the caller has, in the order of the sequences, with those that were packed."""
    original = known_lengths("lengths", lengths)
    packed_as = packed_lengths(packed)
    if original == packed_as:
        return []
    rows = [b for b, (one, other) in enumerate(zip(original, packed_as, strict=False)) if one != other]
    if sorted(original, reverse=True) == packed_as and packed.sorted_indices is None:
        found = (
            f"sorted_indices is None, but the lengths {numbers(torch.tensor(original))} are not in decreasing order."
        )
        repair = (
            "import torch\nfrom torch.nn.utils.rnn import PackedSequence\n\n"
            "order = torch.as_tensor(lengths).argsort(descending=True)  # among equal lengths: take the true ones\n"
            "packed = PackedSequence(packed.data, packed.batch_sizes, order.to(packed.data.device))"
        )
        return [Finding("indices_lost", "silent", found, places(rows), _unpacks(packed), repair, tuple(rows))]
    found = f"The lengths are {numbers(torch.tensor(original))}, packed were {numbers(torch.tensor(packed_as))}."
    if len(original) != len(packed_as):
        found = f"{found} {counted(len(original), 'length')} for {counted(len(packed_as), 'sequence')}."
    where = places(rows) if rows else "the end of the lengths"
    repair = (
        "from torch.nn.utils.rnn import pad_packed_sequence\n\n"
        "_, lengths = pad_packed_sequence(packed)  # those that were packed"
    )
    return [Finding("packed_lengths_differ", "silent", found, where, _unpacks(packed), repair, tuple(rows))]


def _permutes(indices: Tensor, B: int) -> bool:
    if indices.dim() != 1 or indices.dtype != torch.int64 or len(indices) != B:
        return False
    return sorted(indices.tolist()) == list(range(B))


def _no_permutation(packed: PackedSequence, name: str, indices: Tensor, B: int) -> Finding:
    shown = numbers(indices) if indices.dtype == torch.int64 and indices.dim() == 1 else described(indices)
    found = f"{name} is {shown}; a permutation of the {counted(B, 'sequence')} belongs there."
    other = packed.unsorted_indices if name == "sorted_indices" else packed.sorted_indices
    repair = _NEVER_SORTED
    if other is not None and _permutes(other, B):
        repair = _FROM_UNSORTED if name == "sorted_indices" else _FROM_SORTED
    says = _unpacks(packed)
    severity = severity_of(says)
    return Finding("indices_no_permutation", severity, found, name, says, repair)


def _unpacks(packed: PackedSequence) -> str:
    """Return which lengths pad_packed_sequence gives, on the CPU, with one column for the data."""
    forth, back = (None if index is None else index.detach().cpu() for index in packed[2:])
    column = torch.zeros(int(packed.batch_sizes.sum()), 1)
    bare = packed._replace(data=column, sorted_indices=forth, unsorted_indices=back)  # as it is: nothing is inverted
    return answer(lambda: pad_packed_sequence(bare), lambda done: f"unpacks sequences of lengths {numbers(done[1])}")
