"""A PackedSequence from outside, checked before any call of torch: with bad batch_sizes torch aborts the process."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.checks.evidence import described, frozen_copy, tensor_obstacle
from packviz.checks.grid import check_features
from packviz.errors import PackvizError

__all__ = ["check_packed_sequence"]

_REPACK = "let pack_padded_sequence or pack_sequence build it"
_KEEP = "keep the indices that belong to it, for example with packed._replace(data=...)"


def check_packed_sequence(packed: PackedSequence, module: nn.RNNBase) -> PackedSequence:
    """Return a copy with data (N, F). Raises PackvizError where its four fields do not fit each other."""
    _check_tensor("data", packed.data, "a tensor (N, F) on the CPU")
    _check_batch_sizes(packed.batch_sizes, packed.data)
    if packed.data.dim() != 2:
        mend = "pack values with a feature dimension, for example x.unsqueeze(-1)"
        raise _refusal("data", "two dimensions, (N, F)", described(packed.data), mend)
    _check_indices(packed, int(packed.batch_sizes[0]))
    check_features("x.data", packed.data, module)
    return PackedSequence(*(None if field is None else frozen_copy(field) for field in packed))  # type: ignore[arg-type]


def _check_batch_sizes(batch_sizes: Tensor, data: Tensor) -> None:
    expected = "a 1-D int64 tensor on the CPU"
    _check_tensor("batch_sizes", batch_sizes, expected)
    if batch_sizes.dim() != 1 or batch_sizes.dtype != torch.int64:
        raise _refusal("batch_sizes", expected, described(batch_sizes), _REPACK)
    sizes = batch_sizes.tolist()
    rows = len(data) if data.dim() else 0
    if not sizes:
        raise _fatal("at least one time step", "none")
    for t, size in enumerate(sizes):
        if size < 1:
            raise _fatal("at least one row in each time step", f"{size} at time step {t}")
        if t and size > sizes[t - 1]:
            raise _fatal("numbers that never increase", f"{size} after {sizes[t - 1]} at time step {t}")
    if sum(sizes) != rows:
        raise _fatal(f"a sum of {rows}, the rows of data", f"a sum of {sum(sizes)}")


def _check_indices(packed: PackedSequence, B: int) -> None:
    forth, back = packed.sorted_indices, packed.unsorted_indices
    if forth is None and back is None:
        return
    if forth is None or back is None:
        missing = "sorted_indices" if forth is None else "unsorted_indices"
        raise _refusal(missing, "both index tensors, or neither", "None", _KEEP)
    for name, indices in (("sorted_indices", forth), ("unsorted_indices", back)):
        expected = f"a permutation of the {B} sequences, (B,) int64"
        _check_tensor(name, indices, expected)
        if indices.dtype != torch.int64 or indices.dim() != 1 or len(indices) != B:
            raise _refusal(name, expected, described(indices), _KEEP)
        if sorted(indices.tolist()) != list(range(B)):
            raise _refusal(name, expected, _first_few(indices), _KEEP)
    if not torch.equal(forth[back], torch.arange(B, device="cpu")):
        raise _refusal(
            "unsorted_indices",
            "the inverse of sorted_indices",
            f"{_first_few(back)} (torch would take it and give the rows of one sequence to another)",
            _KEEP,
        )


def _check_tensor(field: str, value: object, expected: str) -> None:
    came = tensor_obstacle(value) if isinstance(value, Tensor) else described(value)
    if came:
        raise _refusal(field, expected, came, "convert it, for example with x.cpu()" if "cuda" in came else _REPACK)


def _first_few(indices: Tensor) -> str:
    shown = ", ".join(str(index) for index in indices[:8].tolist())
    return shown if len(indices) <= 8 else f"{shown}, …"


def _fatal(expected: str, came: str) -> PackvizError:
    return _refusal("batch_sizes", expected, f"{came} (on such numbers torch can abort the whole process)", _REPACK)


def _refusal(field: str, expected: str, came: str, mend: str) -> PackvizError:
    return PackvizError(f"x.{field}", expected=expected, came=came, mend=mend)
