"""Repairs of a row of documents: its offsets, positions, masks and labels, as examine_rows() names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from packviz.rules.repairs.program import Repair, always, program

if TYPE_CHECKING:
    from packviz.rules.row_case import RowCase


def _program(case: RowCase, *lines: str, reads: Sequence[str] = (), sets: Sequence[str] = ()) -> str:
    """Return the repair of a row; in a batch it takes the row out of what it reads and sets, and puts it back."""
    if not case.beside:
        return program("import torch", "", *lines)
    row, taken = case.row, [*reads, *sets]
    return program(
        "import torch",
        "",
        *(f"all_{name} = torch.as_tensor({name})" for name in taken),
        *(f"{name} = all_{name}[{row} : {row + 1}]" for name in taken),
        *lines,
        *(f"{name} = torch.cat([all_{name}[:{row}], {name}, all_{name}[{row + 1} :]])" for name in sets),
        *(f"{name} = all_{name}" for name in reads),
    )


def _end_at(_case: RowCase, *, N: int, instead: bool, **_: Any) -> str:
    kept = "cu_seqlens[:-1]" if instead else f"cu_seqlens[cu_seqlens < {N}]"
    return program(
        "import torch",
        "",
        "cu_seqlens = torch.as_tensor(cu_seqlens, dtype=torch.int32)",
        f"cu_seqlens = torch.cat([{kept}, torch.tensor([{N}], dtype=torch.int32)])",
    )


def _count_pads(case: RowCase, **_: Any) -> str:
    return _program(
        case,
        "is_token = torch.as_tensor(attention_mask).flatten() != 0",
        "before = torch.cat([torch.zeros(1, dtype=torch.bool), is_token[:-1]])",
        "starts = (is_token & ~before).nonzero().flatten()[1:].tolist()",
        "cu_seqlens = torch.tensor([0, *starts, len(is_token)], dtype=torch.int32)  # each document with its pads",
        reads=["attention_mask"],
    )


def _begin_again(case: RowCase, *, lengths: Sequence[int], **_: Any) -> str:
    counted = f"position_ids = torch.cat([torch.arange(length) for length in {[*lengths]}])[None]"
    return _program(case, counted, sets=["position_ids"])


def _count_from_zero(case: RowCase, *, first: int, **_: Any) -> str:
    counted = f"position_ids = torch.as_tensor(position_ids) - {first}  # unless the model counts from there"
    return _program(case, counted, sets=["position_ids"])


def _join_pads(case: RowCase, *, steps: Sequence[int], **_: Any) -> str:
    return _program(
        case,
        "row = torch.as_tensor(position_ids).flatten()",
        f"pads = torch.tensor({[*steps]})",
        "position_ids = row.index_copy(0, pads, torch.arange(len(pads)))[None]  # the pads are one document",
        sets=["position_ids"],
    )


def _number_documents(case: RowCase, *, lengths: Sequence[int], **_: Any) -> str:
    return _program(
        case,
        f"numbers = torch.cat([torch.full((length,), d + 1) for d, length in enumerate({[*lengths]})])",
        "is_token = torch.as_tensor(attention_mask).flatten() != 0",
        "attention_mask = torch.zeros(len(is_token), dtype=torch.int64).masked_scatter(is_token, numbers)[None]",
        sets=["attention_mask"],
    )


def _number_again(case: RowCase, *, of: str, **_: Any) -> str:
    pad, first = ("row < 0", "number") if of == "seq_idx" else ("row == 0", "number + 1")
    return _program(
        case,
        f"row = torch.as_tensor({of}).flatten()",
        "_, number = torch.unique_consecutive(row, return_inverse=True)",
        f"{of} = torch.where({pad}, row, {first})[None]",
        sets=[of],
    )


def _ignore(case: RowCase, *, steps: Sequence[int], **_: Any) -> str:
    ignored = f"labels.view(-1)[{[*steps]}] = -100"
    return _program(case, "labels = torch.as_tensor(labels).clone()", ignored, sets=["labels"])


def _shift_once(case: RowCase, **_: Any) -> str:
    return _program(
        case,
        "row = torch.as_tensor(labels).flatten()",
        "labels = torch.cat([torch.as_tensor(input_ids).flatten()[1:2], row[:-1]])[None]  # shifted once",
        reads=["input_ids"],
        sets=["labels"],
    )


_OFFSETS = "torch.as_tensor(cu_seqlens, dtype=torch.int32)"

REPAIRS: dict[str, Repair] = {
    "offsets_lack_zero": always(
        "import torch", "", f"cu_seqlens = torch.cat([torch.zeros(1, dtype=torch.int32), {_OFFSETS}])"
    ),
    **dict.fromkeys(("offsets_end", "offsets_beyond"), _end_at),
    "offsets_without_pads": _count_pads,
    "offsets_fall": always("import torch", "", f"cu_seqlens = {_OFFSETS}.unique()"),
    "offsets_repeat": always("import torch", "", f"cu_seqlens = {_OFFSETS}.unique_consecutive()"),
    "offsets_are_lengths": always(
        "import torch",
        "",
        "cu_seqlens = torch.nn.functional.pad(torch.as_tensor(cu_seqlens).cumsum(0), (1, 0)).to(torch.int32)",
    ),
    "offsets_dtype": always("import torch", "", "cu_seqlens = cu_seqlens.to(torch.int32)"),
    "max_seqlen_small": lambda _case, *, longest, **_: f"max_seqlen = {longest}",
    **dict.fromkeys(("positions_run_on", "positions_uneven"), _begin_again),
    "positions_start_elsewhere": _count_from_zero,
    "pads_begin_documents": _join_pads,
    "mask_of_ones": always("attention_mask = None"),
    "mask_is_no_ids": _number_documents,
    "number_repeats": _number_again,
    "labels_cross": _ignore,
    "labels_shifted_twice": _shift_once,
}
