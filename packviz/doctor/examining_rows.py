"""examine_rows(): look at a row of documents as a collator made it, and say what is wrong."""

from collections.abc import Collection, Mapping, Sequence

import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.inputs.borders import Row, row_from
from packviz.rules.finding import Findings, worded
from packviz.rules.preconditions import refusal_of
from packviz.rules.rows import RowCase, row_faults
from packviz.text import listed
from packviz.validate import integer

__all__ = ["examine_rows"]


def examine_rows(
    input_ids: Row | None = None,
    position_ids: Row | None = None,
    cu_seqlens: Row | None = None,
    max_seqlen: int | None = None,
    seq_idx: Row | None = None,
    attention_mask: Row | None = None,
    labels: Row | None = None,
    documents: Sequence[Tensor] | Sequence[Sequence[int]] | Sequence[int] | None = None,
    *,
    ignore: str | Collection[str] = (),
) -> Findings:
    """Report what is wrong with a row of documents; give whatever its collator returns.

    input_ids       (N,) or (1, N), like position_ids, seq_idx, attention_mask and labels
    cu_seqlens      (D + 1,): where each document begins, and N
    max_seqlen      the longest document
    attention_mask  0 at pads, else 1, or the number of the document from 1
    labels          -100 where there is no target; in place, or shifted by one to the left
    documents       the documents that were to be put into the row: their ids, or their lengths
    ignore          keys of findings that are left out

    A spelling that can be read says where the documents are: cu_seqlens before seq_idx, attention_mask and
    position_ids. Raises PackvizError for unsupported inputs.
    """
    given = {
        "input_ids": input_ids,
        "position_ids": position_ids,
        "seq_idx": seq_idx,
        "attention_mask": attention_mask,
        "labels": labels,
    }
    case = _case(given, cu_seqlens, max_seqlen, documents)
    return Findings(worded(fault, case) for fault in row_faults(case)).ignoring(ignore)


def _case(given: Mapping[str, object], cu_seqlens: object, max_seqlen: object, documents: object) -> RowCase:
    """Return the parts of one row. Raises PackvizError unless they are of one length."""
    read = {name: None if value is None else row_from(name, value) for name, value in given.items()}
    sizes = {name: len(row) for name, row in read.items() if row is not None}
    if len({*sizes.values()}) > 1:
        got = listed([f"{name} of {size}" for name, size in sizes.items()], 5)
        raise PackvizError("examine_rows", got, "rows of one length", "give the parts of one row")
    offsets = None if cu_seqlens is None else row_from("cu_seqlens", cu_seqlens)
    if offsets is None and not sizes:
        expected = "at least one of input_ids, position_ids, cu_seqlens, seq_idx, attention_mask and labels"
        raise PackvizError("examine_rows", expected=expected, got="none", fix="give what the collator returns")
    if isinstance(max_seqlen, Tensor) and max_seqlen.numel() == 1:
        max_seqlen = int(max_seqlen)
    longest = None if max_seqlen is None else integer("max_seqlen", max_seqlen, 0)
    dtype = cu_seqlens.dtype if isinstance(cu_seqlens, Tensor) else None
    known = _documents(documents)
    return RowCase(cu_seqlens=offsets, max_seqlen=longest, documents=known, offsets_dtype=dtype, **read)


def _documents(documents: object) -> list[Tensor] | None:
    if documents is None:
        return None
    fix = "give a list of their ids, or of their lengths"
    if not isinstance(documents, list | tuple) or not documents:
        raise refusal_of("documents", "a list of documents", documents, fix)
    try:
        return [torch.as_tensor(one).detach().cpu() for one in documents]
    except (TypeError, ValueError, RuntimeError):
        raise refusal_of("documents", "a list of ids, or of lengths", documents, fix) from None
