"""Questions about a batch in rows: how the rows are filled, what says where documents end, and what a layer reads."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from packviz.compute.fill import fill_rows
from packviz.inputs.borders import BORDER_RULES, find_documents
from packviz.inputs.documents import cu_seqlens_of, seq_idx_of
from packviz.teach.predictions.kind import Draft, Given, Need, QuestionKind, once
from packviz.teach.predictions.of_losses import heavier, last_label
from packviz.teach.predictions.prediction import MovieMoment
from packviz.teach.predictions.row_facts import ROW_QUESTIONS, RowFacts, ends

MAX_TYPED = 10  # at most this many numbers to type for one answer
MAX_CELLS = 24  # of a row whose position_ids are shown, with its pads

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SPLITS = ("wrapped", "bfd_split")  # strategies that drop nothing

_VERDICT = MovieMoment("leak", name="verdict")
_ATTENTION = Need(lambda facts: facts.trace.mask is not None, 'Set layer to "attention".')
_CONVOLUTION = Need(lambda facts: facts.layer == "conv", 'Set layer to "conv".')
_POSITIONS = Need(lambda facts: facts.reset_positions, "Set reset_positions to true.")


def _offsets(lengths: Sequence[int]) -> list[int]:
    return cu_seqlens_of(lengths).tolist()


@ROW_QUESTIONS.kind("numbers", once(lambda facts: facts.B < MAX_TYPED), possible=once(lambda _: True))
def cu_seqlens(facts: RowFacts, _: None) -> Draft:
    """Ask for cu_seqlens of one row that holds all sequences, one after another."""
    offsets, lengths = _offsets(facts.lengths), facts.lengths
    sizes = [sum(length > t for length in lengths) for t in range(max(lengths))]
    mistakes: dict[str, Given | None] = {
        "lengths": lengths,
        "no_zero": offsets[1:],
        "no_end": offsets[:-1],
        "last_cells": [offset - 1 for offset in offsets[1:]],
        "longest_first": _offsets(sorted(lengths, reverse=True)),
        "batch_sizes": sizes,
        "sizes_summed": _offsets(sizes),
    }
    return Draft(offsets, MovieMoment("two", name="why", whole=True), mistakes)


@ROW_QUESTIONS.kind("letters", lambda facts: facts.shown if facts.B > 1 else (), single=True)
def row_token(facts: RowFacts, n: int) -> Draft:
    """Ask whose token is in one cell of the row that holds all sequences, one after another."""
    b, t = facts.places[n]
    mistakes: dict[str, Given | None] = {
        "by_step": facts.by_step[n][0],
        "longest_first": facts.longest_first[n][0],
        "from_one": facts.places[n - 1][0] if n else None,
    }
    begins = sum(facts.lengths[:b])
    names = {"n": n, "th": ordinal(t), "begins": begins, "length": facts.lengths[b]}
    return Draft(b, MovieMoment("two", name="why", whole=True), mistakes, names)


@ROW_QUESTIONS.kind("numbers", once(lambda facts: facts.C < facts.N), possible=once(lambda _: True))
def row_count(facts: RowFacts, _: None) -> Draft:
    """Ask how many rows a strategy fills."""
    in_order = len(fill_rows(facts.lengths, facts.C, "next_fit").rows)
    mistakes: dict[str, Given | None] = {
        "one_each": facts.B,
        "as_few": -(-facts.N // facts.C),
        "in_order": in_order if facts.strategy != "next_fit" else None,
        "cut": len(fill_rows(facts.lengths, facts.C, "wrapped").rows),
        "one_more": facts.R + 1,
    }
    return Draft(facts.R, MovieMoment("fill", name="end", whole=True), mistakes, {"tokens": facts.trace.rows.tokens})


@ROW_QUESTIONS.kind("letters", once(lambda facts: facts.C < facts.N), possible=once(lambda _: True))
def dropped_from(facts: RowFacts, _: None) -> Draft:
    """Ask which sequences lose tokens, because they are longer than a row."""
    pieces = [b for row in facts.rows for b, _, _ in row]
    mistakes: dict[str, Given | None] = {
        "longer": [b for b in range(facts.B) if facts.lengths[b] > facts.C],
        "cut": [b for b in range(facts.B) if pieces.count(b) > 1],
        "full": [b for b in range(facts.B) if facts.lengths[b] >= facts.C],
        "last": [facts.B - 1],
        "everybody": range(facts.B),
        "nobody": (),
    }
    answer = sorted({b for b, _, _ in facts.dropped})
    return Draft(answer, MovieMoment("fill", name="end", whole=True), mistakes, {"splits": facts.strategy in _SPLITS})


@ROW_QUESTIONS.kind("numbers", once(lambda facts: max(facts.lengths) > facts.C), possible=once(lambda _: True))
def dropped_tokens(facts: RowFacts, _: None) -> Draft:
    """Ask how many tokens are in no row."""
    longer = [length for length in facts.lengths if length > facts.C]
    mistakes: dict[str, Given | None] = {
        "excess": sum(longer) - len(longer) * facts.C,
        "whole": sum(longer),
        "nothing": 0,
        "sequences": len(longer) or None,
        "free": facts.trace.rows.padding or None,
        "one_row": facts.N - facts.C,
    }
    names = {"longer": len(longer), "splits": facts.strategy in _SPLITS, "longest": max(facts.lengths)}
    return Draft(facts.trace.rows.tokens_dropped, MovieMoment("fill", name="end", whole=True), mistakes, names)


@ROW_QUESTIONS.kind("numbers", lambda facts: [r for r in facts.watched if facts.n(r) <= MAX_TYPED])
def position_ids(facts: RowFacts, r: int) -> Draft:
    """Ask for the position_ids of the tokens of one row."""
    lengths, n = facts.trace.rows.lengths[r], facts.n(r)
    again = [t for length in lengths for t in range(length)]
    mistakes: dict[str, Given | None] = {
        "runs_on": range(n),
        "again": again,
        "from_one": [t + 1 for t in (again if facts.reset_positions else range(n))],
        "documents": seq_idx_of(lengths).tolist(),
        "lengths": lengths,
        "offsets": _offsets(lengths),
    }
    positions = facts.trace.position_ids[r, :n].tolist()
    return Draft(
        positions, MovieMoment("borders", name="position_ids"), mistakes, {**facts.in_words(r), "positions": positions}
    )


@ROW_QUESTIONS.kind("numbers", lambda facts: [r for r in facts.watched if facts.C <= MAX_CELLS], needs=(_POSITIONS,))
def document_count(facts: RowFacts, r: int) -> Draft:
    """Ask how many documents a row with given position_ids holds."""
    positions: list[int] = facts.trace.position_ids[r].tolist()
    by_rule = {rule: len(find_documents(position_ids=positions, rule=rule)) for rule in BORDER_RULES}
    D = len(facts.rows[r])
    mistakes: dict[str, Given | None] = {
        "pads": by_rule["rises_by_one"],
        "falls": by_rule["falls"],
        "borders": D - 1,
        "largest": max(positions) + 1,
        "tokens": facts.n(r),
    }
    return Draft(
        D, MovieMoment("borders", name="end", whole=True), mistakes, {**facts.in_words(r), "positions": positions}
    )


@ROW_QUESTIONS.kind("numbers", lambda facts: [*_queries(facts)], needs=(_ATTENTION,))
def keys_read(facts: RowFacts, place: tuple[int, int]) -> Draft:
    """Ask how many keys one token of a row reads."""
    r, q = place
    d = int(facts.trace.document_ids[r, q])
    b, first, length = facts.pieces(r)[d]
    t, n = q - first, facts.n(r)
    start = facts.rows[r][d][1]
    mistakes: dict[str, Given | None] = {
        "without_itself": t if facts.isolate and facts.causal and t else None,
        "document_so_far": t + 1,
        "document": length,
        "row_so_far": q + 1,
        "row": n,
        "cells": facts.C,
    }
    names = {
        "name": facts.letters[b],
        "token": start + t,
        "t": t,
        "q": q,
        "length": length,
        "place": d,
    }
    answer = int(mask_of(facts)[r, q].sum())
    moment = MovieMoment("attention", name=f"{facts.letters[b]}{start + t}")
    return Draft(answer, moment, mistakes, {**facts.in_words(r), **names, "keys": answer, "cut": start > 0})


@ROW_QUESTIONS.kind("numbers", lambda facts: facts.queried, needs=(_ATTENTION,))
def mask_cells(facts: RowFacts, r: int) -> Draft:
    """Ask how many cells of the mask of one row are True."""
    lengths, n = facts.trace.rows.lengths[r], facts.n(r)
    mistakes: dict[str, Given | None] = {
        "triangles": sum(length * (length + 1) // 2 for length in lengths),
        "squares": sum(length * length for length in lengths),
        "triangle": n * (n + 1) // 2,
        "square": n * n,
        "cells": facts.C * facts.C,
        "without_itself": sum(length * (length - 1) // 2 for length in lengths) or None,
        "tokens": n,
    }
    names = {**facts.in_words(r), "lengths": lengths}
    b, _, stop = facts.rows[r][-1]
    moment = MovieMoment("attention", name=f"{facts.letters[b]}{stop - 1}")  # the last query of the row
    return Draft(int(mask_of(facts)[r].sum()), moment, mistakes, names)


@ROW_QUESTIONS.kind(
    "numbers",
    lambda facts: [] if facts.isolate else [*_later(facts)],
    possible=lambda facts: [*_later(facts)],
    needs=(_CONVOLUTION,),
)
def conv_hit(facts: RowFacts, place: tuple[int, int]) -> Draft:
    """Ask how many tokens of a later document depend on another one, through a convolution."""
    r, d = place
    b, first, length = facts.pieces(r)[d]
    hit = facts.influence(r)[first : first + length, :first].any(1)  # (length,)
    k, answer = facts.kernel_size, int(hit.sum())
    mistakes: dict[str, Given | None] = {
        "kernel": k,
        "too_many": k - 1,
        "one_layer": min(k - 1, length),
        "everything": length,
        "first": 1,
        "nothing": 0,
    }
    names = {"name": facts.letters[b], "length": length, "reach": facts.num_layers * (k - 1), "before": first}
    return Draft(answer, _VERDICT, mistakes, {**facts.in_words(r), **names})


@ROW_QUESTIONS.kind("numbers", lambda facts: [*ends(facts)])
def changed_tokens(facts: RowFacts, place: tuple[int, int]) -> Draft:
    """Ask how many outputs of a row change if the last token of a document changes."""
    r, d = place
    b, first, length = facts.pieces(r)[d]
    n, last = facts.n(r), first + length - 1
    mistakes: dict[str, Given | None] = {
        "itself": 1,
        "from_there": n - last,
        "after_it": (n - last - 1) or None,
        "document": length,
        "next": facts.pieces(r)[d + 1][2] if d + 1 < len(facts.rows[r]) else None,
        "row": n,
        "nothing": 0,
    }
    answer = int(facts.influence(r)[:, last].sum())
    return Draft(answer, _VERDICT, mistakes, {**facts.in_words(r), **_about_end(facts, b, length)})


@ROW_QUESTIONS.kind("letters", lambda facts: [place for place in ends(facts) if len(facts.rows[place[0]]) > 1])
def changed_documents(facts: RowFacts, place: tuple[int, int]) -> Draft:
    """Ask which documents of a row have outputs that change if the last token of one of them changes."""
    r, d = place
    pieces = facts.pieces(r)
    b, first, length = pieces[d]
    changed = facts.influence(r)[:, first + length - 1]
    there = [other for other, at, many in pieces if changed[at : at + many].any()]
    every = [other for other, _, _ in pieces]
    mistakes: dict[str, Given | None] = {
        "itself": [b],
        "later": sorted({*every[d:]}),
        "after_it": sorted({*every[d + 1 :]}) or None,
        "next": sorted({*every[d : d + 2]}),
        "row": sorted({*every}),
        "nobody": (),
    }
    names = {**facts.in_words(r), **_about_end(facts, b, length)}
    return Draft(sorted(set(there)), _VERDICT, mistakes, names)


ROW_KINDS: tuple[QuestionKind[RowFacts], ...] = (
    *(cu_seqlens, row_token, row_count, dropped_from, dropped_tokens, position_ids, document_count),
    *(keys_read, mask_cells, conv_hit, changed_tokens, changed_documents, last_label, heavier),
)


def mask_of(facts: RowFacts) -> Tensor:
    """Return the attention mask, (R, C, C)."""
    assert facts.trace.mask is not None
    return facts.trace.mask


def ordinal(place: int) -> str:
    """Return a place, counted from 0, as one says it: "first" for 0."""
    if place < len(_ORDINALS):
        return _ORDINALS[place]
    number = place + 1
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _queries(facts: RowFacts) -> Iterator[tuple[int, int]]:
    """Yield row and cell of the tokens that are asked about."""
    yield from ((r, q) for r in facts.queried for q in range(facts.n(r)))


def _later(facts: RowFacts) -> Iterator[tuple[int, int]]:
    """Yield row and number of every document that has another one before it in its row."""
    yield from ((r, d) for r in facts.watched for d in range(1, len(facts.rows[r])))


def _about_end(facts: RowFacts, b: int, length: int) -> dict[str, object]:
    return {"name": facts.letters[b], "length": length}
