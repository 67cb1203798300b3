"""Files that hold what a collator returned: rows of documents, their borders, masks and labels, by their names."""

from typing import Any

from torch import Tensor

from packviz.doctor.files import Loaded
from packviz.inputs.documents import ALIASES, FIELDS
from packviz.text import listed

__all__ = ["ARGUMENTS", "rows_in"]

# By the name in a file or a text, the argument of examine_rows().
ARGUMENTS = {**FIELDS, "labels": "labels"} | dict.fromkeys(("mask", *ALIASES["mask"]), "attention_mask")
_ONLY_IN_ROWS = {"position_ids", "cu_seqlens", "seq_idx"}  # no padded batch has them
_IDS = {"input_ids", "ids", "tokens"}
_PADDED = {"x", "lengths"}  # names of a padded batch


def rows_in(loaded: Loaded) -> tuple[dict[str, Any], str] | None:
    """Return the arguments of examine_rows() that a file holds, and which of its tensors are none of them.

    None if it is not a collated batch: that has the borders of documents, or ids beside a mask or labels.
    """
    found: dict[str, Any] = {}
    others = [*loaded.packed]
    named: dict[str, Tensor | float] = {**loaded.tensors, **loaded.numbers}
    for path, value in named.items():
        name = path.rpartition(".")[2]  # of a batch inside another dict
        field = ARGUMENTS.get(name, "")
        whole = _whole(field, value)
        if not field or field in found or (field == "input_ids" and name not in _IDS) or whole is None:
            others.append(path)
        else:
            found[field] = whole.tolist() if path in loaded.lists else whole
    masked = "input_ids" in found and bool({"attention_mask", "labels"} & {*found})
    if _PADDED & {*loaded.tensors} or not (masked or _ONLY_IN_ROWS & {*found}):
        return None
    return found, f"Not examined: {listed(others, 4)}." if others else ""


def _whole(field: str, value: Tensor | float) -> Any:
    """Return integers for a field of a row, also from a mask of floating-point numbers; None if it holds others."""
    if not isinstance(value, Tensor) or field == "max_seqlen":
        return int(value) if field == "max_seqlen" and not (isinstance(value, Tensor) and value.dim()) else None
    if field == "documents":
        return value.tolist()
    if value.is_floating_point() and field == "attention_mask":
        return value >= 0 if bool((value < 0).any()) else value.long()  # additive: 0 where a key may be read
    return None if value.is_floating_point() or value.is_complex() or not value.numel() else value
