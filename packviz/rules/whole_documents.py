"""Decides whether rows hold all of the documents that they were filled with, or some were cut or left out."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import cast

from torch import Tensor

from packviz.rules.case import rule
from packviz.rules.finding import Fault
from packviz.rules.row_case import RowCase


@rule("documents", of=RowCase)
def documents_are_whole(case: RowCase) -> Iterator[Fault]:
    """Find documents that are cut or missing: by their ids if the row has ids, else by their lengths."""
    if not case.lengths:
        return
    documents, N = cast("Sequence[Tensor]", case.documents), sum(case.lengths)
    tokens = None if case.input_ids is None else case.tokens(case.input_ids)
    by_ids = tokens is not None and len(tokens) == N and all(one.dim() == 1 for one in documents)
    key: Callable[[Sequence[int]], Hashable] = tuple if by_ids else len
    row: Sequence[int] = tokens.tolist() if tokens is not None and by_ids else range(N)
    parts = Counter(key(row[start:stop]) for start, stop in pairwise([0, *accumulate(case.lengths)]))
    wanted = [one.tolist() if by_ids else range(len(one) if one.dim() else int(one)) for one in documents]
    left = sorted((d for d, one in enumerate(wanted) if not _taken(parts, key(one))), key=lambda d: -len(wanted[d]))
    kept = {d: _kept(parts, wanted[d], key, {*case.lengths}) for d in left}
    cut = [d for d in left if 0 < kept[d] < len(wanted[d])]
    if cut:
        yield Fault("document_cut", None, sorted(cut), severity="silent")
    if split := [d for d in left if kept[d] == len(wanted[d])]:
        yield Fault("document_split", None, sorted(split), severity="note")
    if dropped := [d for d in left if not kept[d]]:
        yield Fault("document_dropped", None, sorted(dropped), severity="silent")


def _taken(parts: Counter[Hashable], part: Hashable) -> bool:
    """Take a part out of those of the row, and return whether it was there."""
    there = parts[part] > 0
    parts[part] -= there
    return there


def _kept(
    parts: Counter[Hashable], whole: Sequence[int], key: Callable[[Sequence[int]], Hashable], of: set[int]
) -> int:
    """Return how many tokens of a document, from its first on, are in parts of these lengths; long parts come first."""
    at, lengths = 0, sorted(of, reverse=True)
    while length := next((n for n in lengths if n <= len(whole) - at and _taken(parts, key(whole[at : at + n]))), 0):
        at += length
    return at
