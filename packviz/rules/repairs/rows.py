"""Repairs of a row of documents: its offsets, positions, masks and labels, as examine_rows() names them."""

import re
from collections.abc import Sequence
from typing import Any

from packviz.rules.repairs.program import Repair, always, program


def _end_at(_case: object, *, N: int, instead: bool, **_: Any) -> str:
    kept = "cu_seqlens[:-1]" if instead else f"cu_seqlens[cu_seqlens < {N}]"
    return program(
        "import torch",
        "",
        "cu_seqlens = torch.as_tensor(cu_seqlens, dtype=torch.int32)",
        f"cu_seqlens = torch.cat([{kept}, torch.tensor([{N}], dtype=torch.int32)])",
    )


def _begin_again(_case: object, *, lengths: Sequence[int], **_: Any) -> str:
    return program(
        "import torch",
        "",
        f"position_ids = torch.cat([torch.arange(length) for length in {[*lengths]}])[None]",
    )


def _count_from_zero(_case: object, *, first: int, **_: Any) -> str:
    return program(
        "import torch",
        "",
        f"position_ids = torch.as_tensor(position_ids) - {first}  # unless the model counts from there",
    )


def _join_pads(_case: object, *, steps: Sequence[int], **_: Any) -> str:
    return program(
        "import torch",
        "",
        "row = torch.as_tensor(position_ids).flatten()",
        f"pads = torch.tensor({[*steps]})",
        "position_ids = row.index_copy(0, pads, torch.arange(len(pads)))[None]  # the pads are one document",
    )


def _number_documents(_case: object, *, lengths: Sequence[int], **_: Any) -> str:
    return program(
        "import torch",
        "",
        f"numbers = torch.cat([torch.full((length,), d + 1) for d, length in enumerate({[*lengths]})])",
        "is_token = torch.as_tensor(attention_mask).flatten() != 0",
        "attention_mask = torch.zeros(len(is_token), dtype=torch.int64).masked_scatter(is_token, numbers)[None]",
    )


def _number_again(_case: object, *, of: str, **_: Any) -> str:
    pad, first = ("row < 0", "number") if of == "seq_idx" else ("row == 0", "number + 1")
    return program(
        "import torch",
        "",
        f"row = torch.as_tensor({of}).flatten()",
        "_, number = torch.unique_consecutive(row, return_inverse=True)",
        f"{of} = torch.where({pad}, row, {first})[None]",
    )


def _ignore(_case: object, *, steps: Sequence[int], **_: Any) -> str:
    return program(
        "import torch", "", "labels = torch.as_tensor(labels).clone()", f"labels.view(-1)[{[*steps]}] = -100"
    )


def for_row(code: str, row: int) -> str:
    """Return the repair of one row of a batch: it takes the row out of what it reads, and puts it back where it was."""
    read = [name for name in _IN_ROWS if re.search(rf"\b{name}\b(?! = None)", code)]
    put_back = [name for name in read if re.search(rf"^{name}\b", code, re.MULTILINE)]
    return program(
        "import torch",
        "",
        *(f"all_{name} = torch.as_tensor({name})" for name in read),
        *(f"{name} = all_{name}[{row} : {row + 1}]" for name in read),
        code.removeprefix("import torch\n\n"),
        *(f"{name} = torch.cat([all_{name}[:{row}], {name}, all_{name}[{row + 1} :]])" for name in put_back),
        *(f"{name} = all_{name}" for name in read if name not in put_back),
    )


_IN_ROWS = ("input_ids", "position_ids", "seq_idx", "attention_mask", "labels")  # (R, N), of what repairs read or set
_OFFSETS = "torch.as_tensor(cu_seqlens, dtype=torch.int32)"

REPAIRS: dict[str, Repair] = {
    "offsets_lack_zero": always(
        "import torch", "", f"cu_seqlens = torch.cat([torch.zeros(1, dtype=torch.int32), {_OFFSETS}])"
    ),
    **dict.fromkeys(("offsets_end", "offsets_beyond"), _end_at),
    "offsets_without_pads": always(
        "import torch",
        "",
        "is_token = torch.as_tensor(attention_mask).flatten() != 0",
        "before = torch.cat([torch.zeros(1, dtype=torch.bool), is_token[:-1]])",
        "starts = (is_token & ~before).nonzero().flatten()[1:].tolist()",
        "cu_seqlens = torch.tensor([0, *starts, len(is_token)], dtype=torch.int32)  # each document with its pads",
    ),
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
    "labels_shifted_twice": always(
        "import torch",
        "",
        "row = torch.as_tensor(labels).flatten()",
        "labels = torch.cat([torch.as_tensor(input_ids).flatten()[1:2], row[:-1]])[None]  # shifted once",
    ),
}
