"""Documents in a row, from their lengths: cu_seqlens, position_ids, seq_idx and the block mask are one information.

find_documents(), in packviz.inputs.borders, turns each of them back into lengths.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.text import shown
from packviz.validate import is_integer

__all__ = [
    "ALIASES",
    "FIELDS",
    "NO_LABEL",
    "cu_seqlens_of",
    "document_mask_of",
    "position_ids_of",
    "segment_ids_of",
    "seq_idx_of",
]

NO_LABEL = -100  # torch's ignore_index

# What libraries call the parts of a row.
ALIASES = {
    "input_ids": ("x", "ids", "tokens", "inputs", "input", "values", "inputs_embeds"),
    "position_ids": ("positions", "pos", "position_id"),
    "seq_idx": ("document_ids", "doc_ids", "segment_ids", "document_id", "sequence_ids"),
    "cu_seqlens": ("cu_seq_lens", "cu_seqlens_q", "cu_seqlens_k", "cu_seq_lens_q", "cu_seq_lens_k", "offsets"),
    "max_seqlen": ("max_length", "max_seqlen_q", "max_seqlen_k", "max_length_q", "max_length_k"),
    "mask": ("attention_mask", "attn_mask", "block_mask"),
    "documents": ("docs",),
}
FIELDS = {alias: name for name, aliases in ALIASES.items() for alias in (name, *aliases)}


def cu_seqlens_of(lengths: Sequence[int]) -> Tensor:
    """Return where each document begins, and N: (D + 1,) int32.

    >>> cu_seqlens_of([3, 2, 1]).tolist()
    [0, 3, 5, 6]
    """
    return torch.tensor([0, *_checked(lengths)], device="cpu").cumsum(0).to(torch.int32)


def position_ids_of(lengths: Sequence[int], width: int | None = None, start: int = 0) -> Tensor:
    """Return the positions in the documents, (N,) or (width,) int64: they begin with `start`, and pads have 0.

    >>> position_ids_of([3, 2], 6).tolist()
    [0, 1, 2, 0, 1, 0]
    """
    return _in_width([torch.arange(start, start + length, device="cpu") for length in _checked(lengths)], width, 0)


def seq_idx_of(lengths: Sequence[int], width: int | None = None) -> Tensor:
    """Return the number of the document of each token, (N,) or (width,) int64: from 0, and -1 at pads.

    >>> seq_idx_of([3, 2], 6).tolist()
    [0, 0, 0, 1, 1, -1]
    """
    return _in_width([torch.full((length,), d, device="cpu") for d, length in enumerate(_checked(lengths))], width, -1)


def segment_ids_of(lengths: Sequence[int], width: int | None = None) -> Tensor:
    """Return an attention mask that numbers the documents, (N,) or (width,) int64: from 1, and 0 at pads.

    >>> segment_ids_of([3, 2], 6).tolist()
    [1, 1, 1, 2, 2, 0]
    """
    return seq_idx_of(lengths, width) + 1


def document_mask_of(lengths: Sequence[int], width: int | None = None, *, causal: bool = True) -> Tensor:
    """Return which query (row) may read which key (column): (N, N) bool. Pads read nothing and are not read.

    >>> document_mask_of([2, 1]).int().tolist()
    [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    """
    of = seq_idx_of(lengths, width)
    same = (of[:, None] == of) & (of >= 0)
    return same.tril() if causal else same


def _checked(lengths: Sequence[int]) -> list[int]:
    given = lengths.tolist() if isinstance(lengths, Tensor) else [*lengths]
    for length in given:
        if not is_integer(length, 0):
            raise PackvizError(
                "lengths", got=shown(length), expected="integers of at least 0", fix="give one length for each document"
            )
    return given


def _in_width(parts: list[Tensor], width: int | None, pad: int) -> Tensor:
    """Return the parts as one row, filled with pads up to the width."""
    row = torch.cat([torch.empty(0, dtype=torch.int64, device="cpu"), *parts])
    if width is None:
        return row
    if not is_integer(width, len(row)):
        got = f"{shown(width)} for {len(row)} tokens"
        raise PackvizError("width", got=got, expected="at least as many places as tokens", fix="give a wider row")
    return torch.cat([row, row.new_full((width - len(row),), pad)])
