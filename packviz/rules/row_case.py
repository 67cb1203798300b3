"""What examine_rows() is given: a row of documents, with its offsets, positions, masks and labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.inputs.borders import find_documents
from packviz.inputs.documents import cu_seqlens_of


@dataclass(frozen=True, eq=False)
class RowCase:
    """What examine_rows() is given, as int64 tensors (N,); documents as tensors, or their lengths."""

    input_ids: Tensor | None = None
    position_ids: Tensor | None = None
    cu_seqlens: Tensor | None = None
    max_seqlen: int | None = None
    seq_idx: Tensor | None = None
    attention_mask: Tensor | None = None
    labels: Tensor | None = None
    documents: Sequence[Tensor] | None = None
    offsets_dtype: torch.dtype | None = None  # of cu_seqlens, if it is a tensor
    row: int = 0  # its number in the batch
    beside: int = 0  # how many other rows are in the batch

    @cached_property
    def N(self) -> int | None:
        """Return the number of places in the row, if anything but cu_seqlens says it."""
        for one in (self.input_ids, self.position_ids, self.seq_idx, self.attention_mask, self.labels):
            if one is not None:
                return len(one)
        return None

    @cached_property
    def is_token(self) -> Tensor | None:
        """Return (N,) bool: False at pads, as attention_mask or seq_idx say; None if neither is given."""
        if self.attention_mask is not None:
            return self.attention_mask != 0
        return None if self.seq_idx is None else self.seq_idx >= 0

    def tokens(self, row: Tensor) -> Tensor:
        """Return the row without its pads."""
        return row if self.is_token is None or len(self.is_token) != len(row) else row[self.is_token]

    @cached_property
    def readings(self) -> dict[str, tuple[int, ...]]:
        """Return the lengths of the documents by each spelling that can be read."""
        given = {
            "cu_seqlens": self.cu_seqlens,
            "seq_idx": self.seq_idx,
            "attention_mask": self.attention_mask if self.numbers_documents else None,
            "position_ids": None if self.position_ids is None else self.tokens(self.position_ids),
        }
        found = {}
        for name, row in given.items():
            try:
                if row is not None and len(row):
                    found[name] = find_documents(**{name: row})  # type: ignore[arg-type]
            except PackvizError:
                continue
        return found

    @cached_property
    def numbers_documents(self) -> bool:
        """Return whether the attention mask has more than 0 and 1."""
        return self.attention_mask is not None and int(self.attention_mask.max()) > 1

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Return the documents by the first spelling that can be read."""
        return next(iter(self.readings.values()), ())

    @property
    def starts(self) -> list[int]:
        """Return where each document begins among the tokens."""
        return [0, *accumulate(self.lengths)][:-1]


def joined(cases: Sequence[RowCase], documents: Sequence[Tensor]) -> RowCase:
    """Return the documents of all rows of a batch as one row; documents: those that the rows should contain."""
    ids = [None if case.input_ids is None else case.tokens(case.input_ids) for case in cases]
    lengths = [case.lengths for case in cases]
    if not all(lengths):  # padded: a document is a row
        lengths = [(len(each),) for each in ids if each is not None] if len(documents) == len(cases) else []
    known = [each for each, own in zip(ids, lengths, strict=False) if each is not None and len(each) == sum(own)]
    return RowCase(
        input_ids=torch.cat(known) if known and len(known) == len(cases) else None,
        cu_seqlens=cu_seqlens_of([length for own in lengths for length in own]).long() if lengths else None,
        documents=documents,
    )
