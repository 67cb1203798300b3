"""What can be wrong with a row of documents: its offsets, positions, masks and labels, and documents cut or dropped."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import cast

import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.inputs.borders import RULES, find_documents, where_rules_disagree
from packviz.inputs.documents import cu_seqlens_of
from packviz.rules.case import rule
from packviz.rules.finding import Fault, Severity

IGNORED = -100  # a label that is no target


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
    """Return the documents of all rows of a batch as one row: these documents were to be put into them."""
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


@rule("cu_seqlens", of=RowCase)
def offsets_fit(case: RowCase) -> Iterator[Fault]:
    """Find offsets that are lengths, or do not lead from 0 to the end of the row."""
    given, N = cast(Tensor, case.cu_seqlens).tolist(), case.N
    if case.offsets_dtype not in (None, torch.int32):
        yield Fault("offsets_dtype", severity="error", dtype=str(case.offsets_dtype).removeprefix("torch."))
    steps = [after - before for before, after in pairwise(given)]
    falls = any(step < 0 for step in steps)
    if (sum(given) == N and given[-1] != N) or (N is None and given[0] != 0 and falls):
        yield Fault("offsets_are_lengths", severity="silent", given=given)
        return
    if given[0] != 0:
        yield Fault("offsets_lack_zero", severity="silent", given=given)
    if falls or 0 in steps:
        at = next(d for d, step in enumerate(steps) if (step < 0 if falls else step == 0))
        yield Fault("offsets_fall" if falls else "offsets_repeat", severity="silent", given=given, at=at)
    if N is not None and given[-1] != N:
        runs = _runs(case.is_token)
        between = len(runs) > 1 and [stop - start for start, stop in runs] == steps
        if between:
            yield Fault("offsets_without_pads", severity="silent", given=given, N=N)
        else:  # whether positions say that the last offset alone is wrong, and no offset is missing
            instead = [*given[:-1], N] == [0, *accumulate(case.readings.get("position_ids", ()))]
            yield Fault("offsets_end", severity="silent", given=given, N=N, instead=instead)


def _runs(is_token: Tensor | None) -> list[tuple[int, int]]:
    """Return (start, stop) of each run of tokens between pads."""
    if is_token is None:
        return []
    edges = torch.cat([is_token.new_zeros(1), is_token, is_token.new_zeros(1)]).int().diff()
    return list(zip((edges == 1).nonzero().flatten().tolist(), (edges == -1).nonzero().flatten().tolist(), strict=True))


@rule("max_seqlen", of=RowCase)
def max_seqlen_is_enough(case: RowCase) -> Iterator[Fault]:
    """Find a max_seqlen below the longest document."""
    longest = max(case.lengths, default=0)
    if (given := cast(int, case.max_seqlen)) < longest:
        yield Fault("max_seqlen_small", severity="silent", given=given, longest=longest)


@rule("position_ids", of=RowCase)
def positions_begin_again(case: RowCase) -> Iterator[Fault]:
    """Find positions that run on, begin again elsewhere, or do not count from 0, and pads that look like documents."""
    row = cast(Tensor, case.position_ids)
    positions = case.tokens(row)
    others = {name: found for name, found in case.readings.items() if name != "position_ids" and len(found) > 1}
    told = next(iter(others.values()), ())
    if told and sum(told) == len(positions):
        starts = [0, *accumulate(told)][:-1]
        again = [int(positions[start]) for start in starts]
        runs_on = [d for d in range(1, len(starts)) if int(positions[starts[d]]) == int(positions[starts[d] - 1]) + 1]
        if runs_on:
            yield Fault("positions_run_on", None, runs_on, severity="silent", of=next(iter(others)), lengths=told)
            return
    else:
        lengths = case.readings.get("position_ids", ())
        again = [int(positions[start]) for start in [0, *accumulate(lengths)][:-1] if start < len(positions)]
        again = again if sum(lengths) == len(positions) else again[:1]
    if again and len(set(again)) == 1 and again[0] != 0:
        yield Fault("positions_start_elsewhere", severity="note", first=again[0])
    elif uneven := [d for d, first in enumerate(again) if d and first]:  # the first may go on from another row
        yield Fault("positions_uneven", None, uneven, severity="silent", first=again[uneven[0]], lengths=told)
    if len(pads := _pads_at_the_end(case, row)) > 1 and len(set(row.tolist())) > 1:
        yield Fault("pads_begin_documents", None, (), pads, severity="silent", pads=len(pads))


def _pads_at_the_end(case: RowCase, row: Tensor) -> list[int]:
    """Return the pads at the end of the row whose position is 0, which the rules take for documents."""
    if case.is_token is not None and len(case.is_token) == len(row):
        pads = (~case.is_token & (row == 0)).nonzero().flatten().tolist()
        return pads if case.attention_mask is None or not case.numbers_documents else []
    told = case.cu_seqlens is not None and int(case.cu_seqlens[-1]) == len(row)
    tail = len(row) - int((row != 0).nonzero().flatten()[-1]) - 1 if bool(row.any()) else 0
    tail -= 1 if tail and case.readings.get("position_ids", (0,))[-1] == 1 else 0
    return [] if told or tail < 2 else [*range(len(row) - tail, len(row))][int(row[len(row) - tail]) != 0 :]


@rule("attention_mask", of=RowCase)
def mask_tells_documents(case: RowCase) -> Iterator[Fault]:
    """Find a mask that does not tell the documents apart which another spelling does."""
    mask = cast(Tensor, case.attention_mask)
    found = next((found for found in case.readings.values() if len(found) > 1), ())
    if not found or case.numbers_documents:
        return
    whole, alone = bool((mask == 1).all()), [*case.readings] == ["position_ids"]
    severity: Severity = "silent" if whole or alone else "note"
    yield Fault("mask_of_ones" if whole else "mask_is_no_ids", severity=severity, lengths=found)


@rule("position_ids", of=RowCase)
def borders_are_told_in_one_row(case: RowCase) -> Iterator[Fault]:
    """Find borders in position_ids alone, beside other rows."""
    told = [name for name, found in case.readings.items() if len(found) > 1]
    if case.beside and told == ["position_ids"]:
        yield Fault("borders_in_one_row", severity="note", R=case.beside + 1)


@rule(of=RowCase)
def borders_agree(case: RowCase) -> Iterator[Fault]:
    """Find spellings that have different documents."""
    told = {name: found for name, found in case.readings.items() if name != "position_ids"}
    if len({*told.values()}) > 1:
        yield Fault("borders_differ", severity="silent", told=told)


@rule("position_ids", of=RowCase)
def rules_agree(case: RowCase) -> Iterator[Fault]:
    """Find positions in which public rules find different documents."""
    row = cast(Tensor, case.position_ids)
    if places := where_rules_disagree(row):
        counts = {name: len(find_documents(position_ids=row, rule=name)) for name in RULES}
        yield Fault("rules_disagree", None, (), list(places), severity="note", counts=counts)


@rule("labels", "input_ids", of=RowCase)
def labels_stay_inside(case: RowCase) -> Iterator[Fault]:
    """Find labels that are shifted twice, or over a border."""
    ids, labels = case.tokens(cast(Tensor, case.input_ids)), case.tokens(cast(Tensor, case.labels))
    shift = label_shift(ids, labels)
    if shift == 2:
        yield Fault("labels_shifted_twice", severity="silent")
    if shift in (0, 1) and sum(case.lengths) == len(ids):
        crossing = [d for d in range(1, len(case.lengths)) if int(labels[case.starts[d] - shift]) != IGNORED]
        if shift == 1:
            crossing = [d for d in crossing if int(labels[case.starts[d] - 1]) == int(ids[case.starts[d]])]
        if crossing:
            places = [case.starts[d] - shift for d in crossing]
            yield Fault("labels_cross", None, crossing, places, severity="silent", shift=shift)


def label_shift(ids: Tensor, labels: Tensor) -> int:
    """Return by how many places the labels are shifted against the ids: 0, 1 or 2; -1 if by none of these."""
    best, most = -1, 0.0
    for shift in (0, 1, 2):
        own, other = labels[: len(labels) - shift], ids[shift:]
        is_target = own != IGNORED
        share = float((own == other)[is_target].double().mean()) if bool(is_target.any()) else 0.0
        if share > max(most, 0.8):
            best, most = shift, share
    return best


@rule("labels", of=RowCase)
def documents_have_targets(case: RowCase) -> Iterator[Fault]:
    """Find documents without a target."""
    labels = case.tokens(cast(Tensor, case.labels))
    if sum(case.lengths) != len(labels):
        return
    inside = labels.clone()
    if case.input_ids is not None and label_shift(case.tokens(case.input_ids), labels) == 0:
        inside[case.starts] = IGNORED  # the model shifts them: the first token of a document is no target
    parts = torch.split(inside, list(case.lengths))
    empty = [d for d, part in enumerate(parts) if bool((part == IGNORED).all())]
    if empty:
        yield Fault("no_target", None, empty, severity="note")


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
