"""examine_rows(): look at a row of documents as a collator made it, and list what is wrong."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from packviz.errors import PackvizError, refusal_of
from packviz.inputs.borders import RowLike, mask_rows_from, rows_from
from packviz.inputs.tensors import INTEGERS
from packviz.rules import findings
from packviz.rules.finding import Finding, Findings
from packviz.rules.row_case import RowCase, joined
from packviz.text import listed
from packviz.validate import integer

__all__ = ["examine_rows", "row_cases"]


def examine_rows(
    input_ids: RowLike | None = None,
    position_ids: RowLike | None = None,
    cu_seqlens: RowLike | None = None,
    max_seqlen: int | None = None,
    seq_idx: RowLike | None = None,
    attention_mask: RowLike | None = None,
    labels: RowLike | None = None,
    documents: Sequence[Tensor] | Sequence[Sequence[int]] | Sequence[int] | None = None,
    *,
    ignore: str | Collection[str] = (),
) -> Findings:
    """Report what is wrong with a row of documents; give whatever its collator returns.

    input_ids       (N,) or (R, N), like position_ids, seq_idx, attention_mask and labels: each row is examined
    cu_seqlens      (D + 1,): where each document begins, and N; of a batch of rows, as if they were one after another
    max_seqlen      the longest document
    attention_mask  0 at pads, else 1, or the number of the document from 1; or (N, N), (R, 1, N, N): a block mask
    labels          -100 for no target; in place, or shifted by one to the left
    documents       the documents that were to be put into the row: their ids, or their lengths
    ignore          keys of findings that are left out

    A spelling that can be read says where the documents are: cu_seqlens before seq_idx, attention_mask and
    position_ids. What several rows have is reported once, for the first of them. Raises PackvizError for unsupported
    inputs.
    """
    known = documents_from(documents)
    cases = row_cases(
        input_ids=input_ids,
        position_ids=position_ids,
        cu_seqlens=cu_seqlens,
        max_seqlen=max_seqlen,
        seq_idx=seq_idx,
        attention_mask=attention_mask,
        labels=labels,
    )
    if len(cases) == 1:
        return Findings(findings(replace(cases[0], documents=known))).ignoring(ignore)
    whole = () if known is None else findings(joined(cases, known))
    return Findings([*_in_all(cases), *whole]).ignoring(ignore)


def _in_all(cases: Sequence[RowCase]) -> Iterable[Finding]:
    """Return what is found in several rows; what more than one has is reported for the first of them."""
    found: dict[str, Finding] = {}
    for row, case in enumerate(cases):
        for one in findings(case):
            first = found.get(one.key)
            here = replace(one, where=f"row {row}, {one.where}")
            found[one.key] = here if first is None else replace(first, times=first.times + 1)
    return found.values()


def row_cases(
    *, cu_seqlens: object = None, max_seqlen: object = None, attention_mask: object = None, **given: object
) -> list[RowCase]:
    """Return the rows of a batch, from what examine_rows() takes. Raises PackvizError unless their shapes fit."""
    read = {name: rows_from(name, one) for name, one in given.items() if one is not None}
    if attention_mask is not None:
        shape = next((tuple(rows.shape) for rows in read.values()), None)
        read["attention_mask"] = mask_rows_from(attention_mask, shape)
    shapes = {name: tuple(rows.shape) for name, rows in read.items()}
    if len({*shapes.values()}) > 1:
        got = listed([f"{name} {shape}" for name, shape in shapes.items()], 5)
        raise PackvizError("examine_rows", got=got, expected="rows of one shape", fix="give the parts of one batch")
    offsets = None if cu_seqlens is None else rows_from("cu_seqlens", cu_seqlens)
    if offsets is None and not read:
        expected = "at least one of input_ids, position_ids, cu_seqlens, seq_idx, attention_mask and labels"
        raise PackvizError("examine_rows", expected=expected, got="none", fix="give what the collator returns")
    if offsets is not None and len(offsets) == 1:  # of one row, or of all rows one after another
        mask = read.get("attention_mask")
        if mask is not None and len(mask) > 1 and _counts_tokens(offsets[0], mask):
            read = {name: rows[mask == 1][None] for name, rows in read.items() if rows is not mask}
        read = {name: _one_after_another(name, rows) for name, rows in read.items()}
    R = next((len(rows) for rows in read.values()), 1 if offsets is None else len(offsets))
    if offsets is not None and len(offsets) != R:
        expected, fix = f"shape (D + 1,), or {R} rows", "give the offsets of all rows one after another"
        raise PackvizError("cu_seqlens", got=str(tuple(offsets.shape)), expected=expected, fix=fix)
    if isinstance(max_seqlen, Tensor) and max_seqlen.numel() == 1:
        max_seqlen = int(max_seqlen)
    common: dict[str, Any] = {
        "max_seqlen": None if max_seqlen is None else integer("max_seqlen", max_seqlen, 0),
        "offsets_dtype": cu_seqlens.dtype if isinstance(cu_seqlens, Tensor) else None,
        "beside": R - 1,
    }
    rows: list[dict[str, Any]] = [{name: part[row] for name, part in read.items()} for row in range(R)]
    return [
        RowCase(**common, **each, row=row, cu_seqlens=None if offsets is None else offsets[row])
        for row, each in enumerate(rows)
    ]


def _counts_tokens(offsets: Tensor, mask: Tensor) -> bool:
    """Return whether these are the offsets of a padded batch (R, N) without its pads: each row is one document."""
    return bool((mask <= 1).all()) and offsets.tolist() == [0, *(mask == 1).sum(1).cumsum(0).tolist()]


def _one_after_another(name: str, rows: Tensor) -> Tensor:
    """Return rows (R, N) as one, (1, R · N); each row numbers its own documents, so the numbers go on."""
    if name == "seq_idx" or (name == "attention_mask" and bool((rows > 1).any())):
        first = int(rows[0, 0] == 1 or name == "attention_mask")  # the number of the first document: below are pads
        before = torch.arange(len(rows), device=rows.device)[:, None] * (rows.max() + 1)
        rows = torch.where(rows < first, rows, rows + before)
    return rows.reshape(1, -1)


def documents_from(documents: object) -> list[Tensor] | None:
    """Return the ids of each document, or its length as an integer of at least 0. Raises PackvizError for others."""
    if documents is None:
        return None
    fix = "give a list of their ids, or of their lengths"
    if not isinstance(documents, list | tuple) or not documents:
        raise refusal_of("documents", "a list of documents", documents, fix)
    try:
        found = [torch.as_tensor(one, device="cpu").detach() for one in documents]
    except (TypeError, ValueError, RuntimeError):
        raise refusal_of("documents", "a list of ids, or of lengths", documents, fix) from None
    for given, one in zip(documents, found, strict=True):
        ids = one.dim() == 1 and (one.dtype in INTEGERS or not len(one))
        if not (ids or (one.dim() == 0 and one.dtype in INTEGERS and int(one) >= 0)):
            raise refusal_of("documents", "a list of ids, or a length that is an integer of at least 0", given, fix)
    return found
