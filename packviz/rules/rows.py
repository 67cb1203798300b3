"""Decides whether the offsets, positions, masks and labels of a row of documents fit each other."""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import cast

import torch
from torch import Tensor

from packviz.inputs.borders import BORDER_RULES, find_documents, where_rules_disagree
from packviz.inputs.documents import NO_LABEL
from packviz.rules.case import rule
from packviz.rules.finding import Fault, Severity
from packviz.rules.row_case import RowCase
from packviz.rules.words import Said
from packviz.text import dtype_name


@rule("cu_seqlens", of=RowCase)
def offsets_fit(case: RowCase) -> Iterator[Fault]:
    """Find offsets that are lengths, or do not lead from 0 to the end of the row."""
    given, N = cast(Tensor, case.cu_seqlens).tolist(), case.N
    if case.offsets_dtype not in (None, torch.int32):
        yield Fault("offsets_dtype", severity="error", dtype=dtype_name(case.offsets_dtype))
    steps = [after - before for before, after in pairwise(given)]
    falls = any(step < 0 for step in steps)
    if given[0] != 0 and ((sum(given) == N and given[-1] != N) or (N is None and falls)):
        yield Fault("offsets_are_lengths", severity="silent", given=given)
        return
    if given[0] != 0:
        yield Fault("offsets_lack_zero", severity="silent", given=given)
    if falls:
        before, after = next(pair for pair in pairwise(given) if pair[1] < pair[0])
        yield Fault("offsets_fall", severity="silent", before=before, after=after)
    elif 0 in steps:
        yield Fault("offsets_repeat", severity="silent", repeated=given[steps.index(0)])
    if N is not None and given[-1] != N:
        runs = _runs(case.is_token)
        between = len(runs) > 1 and [stop - start for start, stop in runs] == steps
        if between:
            yield Fault("offsets_without_pads", severity="silent", given=given, N=N)
        else:  # whether positions say that the last offset alone is wrong, and no offset is missing
            instead = [*given[:-1], N] == [0, *accumulate(case.readings.get("position_ids", ()))]
            if given[-1] < N:
                left = N - given[-1]
                yield Fault("offsets_end", severity="silent", given=given, N=N, left=left, instead=instead)
            else:
                yield Fault("offsets_beyond", severity="silent", given=given, N=N, instead=instead)


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
    elsewhere = next(iter(others.values()), ())
    if elsewhere and sum(elsewhere) == len(positions):
        starts = [0, *accumulate(elsewhere)][:-1]
        again = [int(positions[start]) for start in starts]
        runs_on = [d for d in range(1, len(starts)) if int(positions[starts[d]]) == int(positions[starts[d] - 1]) + 1]
        if runs_on:
            yield Fault("positions_run_on", None, runs_on, severity="silent", of=next(iter(others)), lengths=elsewhere)
            return
    else:
        lengths = case.readings.get("position_ids", ())
        again = [int(positions[start]) for start in [0, *accumulate(lengths)][:-1] if start < len(positions)]
        again = again if sum(lengths) == len(positions) else again[:1]
    if again and len(set(again)) == 1 and again[0] != 0:
        yield Fault("positions_start_elsewhere", severity="note", first=again[0])
    elif uneven := [d for d, first in enumerate(again) if d and first]:  # the first may go on from another row
        yield Fault("positions_uneven", None, uneven, severity="silent", first=again[uneven[0]], lengths=elsewhere)
    if len(pads := _pads_at_the_end(case, row)) > 1 and len(set(row.tolist())) > 1:
        assumed = case.is_token is None and case.cu_seqlens is None
        says: list[Said] = ["assumed"] if assumed else []
        yield Fault("pads_begin_documents", None, (), pads, severity="silent", says=says, pads=len(pads))


def _pads_at_the_end(case: RowCase, row: Tensor) -> list[int]:
    """Return the pads at the end of the row whose position is 0, which the rules take for documents."""
    if case.is_token is not None and len(case.is_token) == len(row):
        pads = (~case.is_token & (row == 0)).nonzero().flatten().tolist()
        return pads if case.attention_mask is None or not case.numbers_documents else []
    has_all = case.cu_seqlens is not None and int(case.cu_seqlens[-1]) == len(row)
    tail = len(row) - int((row != 0).nonzero().flatten()[-1]) - 1 if bool(row.any()) else 0
    tail -= 1 if tail and case.readings.get("position_ids", (0,))[-1] == 1 else 0
    return [] if has_all or tail < 2 else [*range(len(row) - tail, len(row))]


@rule("attention_mask", of=RowCase)
def mask_separates_documents(case: RowCase) -> Iterator[Fault]:
    """Find a mask that does not separate the documents, although the row gives their borders in another way."""
    mask = cast(Tensor, case.attention_mask)
    found = next((found for found in case.readings.values() if len(found) > 1), ())
    if not found or case.numbers_documents:
        return
    whole, alone = bool((mask == 1).all()), [*case.readings] == ["position_ids"]
    severity: Severity = "silent" if whole or alone else "note"
    yield Fault("mask_of_ones" if whole else "mask_is_no_ids", severity=severity, lengths=found)


@rule("position_ids", of=RowCase)
def borders_work_beside_other_rows(case: RowCase) -> Iterator[Fault]:
    """Find borders in position_ids alone, beside other rows."""
    separating = [name for name, found in case.readings.items() if len(found) > 1]
    if case.beside and separating == ["position_ids"]:
        yield Fault("borders_in_one_row", severity="note", R=case.beside + 1)


@rule(of=RowCase)
def borders_agree(case: RowCase) -> Iterator[Fault]:
    """Find spellings that have different documents."""
    spellings = {name: found for name, found in case.readings.items() if name != "position_ids"}
    if len({*spellings.values()}) > 1:
        yield Fault("borders_differ", severity="silent", spellings=spellings)


@rule(of=RowCase)
def documents_have_their_own_numbers(case: RowCase) -> Iterator[Fault]:
    """Find a number that several documents of the row have."""
    for name, ids in (("seq_idx", case.seq_idx), ("attention_mask", case.attention_mask)):
        if name not in case.readings or ids is None:  # a mask of 0 and 1 has no numbers
            continue
        numbers = torch.unique_consecutive(case.tokens(ids)).tolist()
        if again := [d for d, number in enumerate(numbers) if number in numbers[:d]]:
            first = numbers.index(numbers[again[0]])
            yield Fault("number_repeats", None, (first, again[0]), severity="silent", of=name, number=numbers[first])


@rule("position_ids", of=RowCase)
def rules_agree(case: RowCase) -> Iterator[Fault]:
    """Find positions in which public rules find different documents."""
    row = cast(Tensor, case.position_ids)
    if places := where_rules_disagree(row):
        counts = {name: len(find_documents(position_ids=row, rule=name)) for name in BORDER_RULES}
        yield Fault("rules_disagree", None, (), list(places), severity="note", counts=counts)


@rule("labels", "input_ids", of=RowCase)
def labels_stay_inside(case: RowCase) -> Iterator[Fault]:
    """Find labels that are shifted twice, or over a border."""
    ids, labels = case.tokens(cast(Tensor, case.input_ids)), case.tokens(cast(Tensor, case.labels))
    shift = label_shift(ids, labels)
    if shift == 2:
        yield Fault("labels_shifted_twice", severity="silent")
    if shift in (0, 1) and sum(case.lengths) == len(ids):
        crossing = [d for d in range(1, len(case.lengths)) if int(labels[case.starts[d] - shift]) != NO_LABEL]
        if shift == 1:
            crossing = [d for d in crossing if int(labels[case.starts[d] - 1]) == int(ids[case.starts[d]])]
        if crossing:
            places = [case.starts[d] - shift for d in crossing]
            says: list[Said] = ["shifted" if shift else "not_shifted"]
            yield Fault("labels_cross", None, crossing, places, severity="silent", says=says)


def label_shift(ids: Tensor, labels: Tensor) -> int:
    """Return by how many places the labels are shifted against the ids: 0, 1 or 2; -1 if by none of these."""
    best, most = -1, 0.0
    for shift in (0, 1, 2):
        own, other = labels[: len(labels) - shift], ids[shift:]
        is_target = own != NO_LABEL
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
        inside[case.starts] = NO_LABEL  # the model shifts them: the first token of a document is not a target
    parts = torch.split(inside, list(case.lengths))
    empty = [d for d, part in enumerate(parts) if bool((part == NO_LABEL).all())]
    if empty:
        yield Fault("no_target", None, empty, severity="note")
