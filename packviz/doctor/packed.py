"""A PackedSequence: whether its four fields fit each other, and what was packed.

Nothing of torch is called on batch_sizes that are not sound: with some of them it aborts the whole process.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.checks.evidence import described
from packviz.doctor.asking import MOST_CELLS, unpack_or_say
from packviz.doctor.case import Case
from packviz.doctor.finding import Finding, Severity, counted
from packviz.doctor.finite import all_finite, check_finite_rows
from packviz.doctor.grid import peaks, real_cells
from packviz.doctor.indices import check_indices, check_original_order
from packviz.doctor.packed_pads import packed_pads
from packviz.doctor.refusing import check_unpacked_size
from packviz.doctor.rows import as_grid

__all__ = ["check_packed", "check_sizes"]

_NOT_RUN = (
    "was not asked: pad_packed_sequence can abort the whole process on such batch_sizes, and no exception comes before"
)
_REPACK = (
    "from torch.nn.utils.rnn import pack_padded_sequence\n\n"
    "packed = pack_padded_sequence(x, lengths, batch_first=batch_first, enforce_sorted=False)"
)


def check_packed(case: Case) -> tuple[list[Finding], bool]:
    """Return the findings, and whether the packed sequence is sound enough to be given to torch."""
    packed = case.packed
    assert packed is not None
    if unsound := check_sizes(packed):
        return unsound, False
    if unsound := check_indices(packed):
        return unsound, False
    check_unpacked_size(packed)
    meta = any(field is not None and field.device.type == "meta" for field in packed)
    found = [] if case.lengths is None or meta else check_original_order(packed, case.lengths)
    if meta:
        return found, True
    told, data = case.padding_value, packed.data
    largest = peaks(data.unsqueeze(0))[0]
    found += [] if all_finite(largest) else check_finite_rows(packed)
    real = real_cells(data.unsqueeze(0), told)[0] if told else largest != 0
    return (found if bool(real.all()) else found + _pads(packed, real, told)), True


def check_sizes(packed: PackedSequence) -> list[Finding]:
    """Check batch_sizes by themselves, and against the rows of data."""
    sizes, data = packed.batch_sizes, packed.data
    if not isinstance(sizes, Tensor) or sizes.dim() != 1 or sizes.dtype != torch.int64 or sizes.device.type != "cpu":
        found = f"batch_sizes is {described(sizes)}; torch asks for a 1-D int64 tensor on the CPU."
        return [Finding("batch_sizes_kind", "error", found, "batch_sizes", _NOT_RUN, _REPACK)]
    counts = sizes.tolist()
    rows = len(data) if data.dim() else 0
    if counts and min(counts) >= 1 and counts == sorted(counts, reverse=True):
        return [] if sum(counts) == rows else [_sum(packed, counts, rows)]
    if not counts:
        found = "batch_sizes is empty: no time step."
        return [Finding("batch_sizes_empty", "error", found, "batch_sizes", _NOT_RUN, _REPACK)]
    found_here = []
    if min(counts) < 1:
        t = next(t for t, count in enumerate(counts) if count < 1)
        found = f"batch_sizes has {counts[t]} at t = {t}; a time step that nobody takes is not in it."
        found_here.append(Finding("batch_sizes_below_1", "error", found, f"t = {t}", _NOT_RUN, _REPACK, (), (t,)))
    grows = [t for t in range(1, len(counts)) if counts[t] > counts[t - 1]]
    if grows:
        t = grows[0]
        found = f"batch_sizes grows from {counts[t - 1]} to {counts[t]} at t = {t}; no sequence can begin again."
        found_here.append(Finding("batch_sizes_grow", "error", found, f"t = {t}", _NOT_RUN, _REPACK, (), tuple(grows)))
    return found_here


def _sum(packed: PackedSequence, counts: list[int], rows: int) -> Finding:
    total = sum(counts)
    t = next((t for t, so_far in enumerate(accumulate(counts)) if so_far > rows), len(counts))
    if counts[0] * len(counts) * max(packed.data.numel() // max(rows, 1), 1) > MOST_CELLS or total > MOST_CELLS:
        says = f"was not asked: the unpacked grid would have {counts[0] * len(counts):,} cells"
    else:
        bare = PackedSequence(packed.data.detach().cpu(), packed.batch_sizes)  # as torch takes it, no index in the way
        says = f"takes it as it is; pad_packed_sequence {unpack_or_say(bare)}"
    severity: Severity = "error" if "raises" in says else "silent"
    found = f"batch_sizes sum to {total:,}, and data has {counted(rows, 'row')}."
    where = f"from t = {t} on" if total > rows else f"{counted(rows - total, 'row')} at the end"
    return Finding("rows_differ", severity, found, where, says, _REPACK, (), (t,) if total > rows else ())


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
    pad = 0.0 if told is None else told
    found = packed_pads(values, flags, lengths, pad, told=told is not None, repair=grid)
    if found is None:
        return []
    return [replace(found, torch_does=f"{found.torch_does}; packed.data has {counted(int((~real).sum()), 'such row')}")]
