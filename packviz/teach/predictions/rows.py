"""Questions about a batch in rows: how the rows are filled, what says where documents end, and what a layer reads."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from packviz.compute.fill import LONGEST_FIRST, fill_rows
from packviz.inputs.borders import BORDER_RULES, find_documents
from packviz.inputs.documents import cu_seqlens_of, seq_idx_of
from packviz.teach.predictions.kind import Draft, Given, Need, QuestionKind, once
from packviz.teach.predictions.of_influence import changed_documents, changed_tokens, conv_hit
from packviz.teach.predictions.of_losses import heavier, last_label
from packviz.teach.predictions.prediction import MovieMoment
from packviz.teach.predictions.row_facts import ROW_QUESTIONS, RowFacts

MAX_TYPED = 10  # at most this many numbers to type for one answer
MAX_CELLS = 24  # of a row whose position_ids are shown, with its pads

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SPLITS = ("wrapped", "bfd_split")  # strategies that drop nothing

_FILLED = MovieMoment("fill", name="end", whole=True)
_ATTENTION = Need(lambda facts: facts.trace.mask is not None, 'Set layer to "attention".')
_POSITIONS = Need(lambda facts: facts.reset_positions, "Set reset_positions to true.")


def _offsets(lengths: Sequence[int]) -> list[int]:
    return cu_seqlens_of(lengths).tolist()


@ROW_QUESTIONS.kind("numbers", once(lambda facts: facts.B < MAX_TYPED), possible=once(lambda _: True))
def cu_seqlens(facts: RowFacts, _: None) -> Draft:
    """Ask for cu_seqlens of one row that holds all sequences, one after another."""
    offsets, lengths = _offsets(facts.lengths), facts.lengths
    sizes = [sum(length > t for length in lengths) for t in range(max(lengths))]
    mistakes: dict[str, Given | None] = {
        "lengths" if facts.B > 1 else "length": lengths,
        "no_zero": offsets[1:],
        "no_end": offsets[:-1],
        "last_cells": [offset - 1 for offset in offsets[1:]],
        "longest_first": _offsets(sorted(lengths, reverse=True)),
        "batch_sizes": sizes,
        "sizes_summed": _offsets(sizes),
    }
    one, names = "" if facts.B > 1 else "_one", {"B": facts.B, "N": facts.N, "lengths": lengths}
    prompt, hint, moment = (f"prompt{one}",), (f"hint{one}",), MovieMoment("two", name="why", whole=True)
    return Draft(offsets, moment, mistakes, names, prompt=prompt, hint=hint, phrases={"begins": "begins"})


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
    names = {"B": facts.B, "n": n, "th": ordinal(t)}
    names |= {"name": facts.letters[b], "begins": begins, "length": facts.lengths[b]}
    return Draft(b, MovieMoment("two", name="why", whole=True), mistakes, names, phrases={"place": "place"})


@ROW_QUESTIONS.kind("numbers", once(lambda facts: facts.C < facts.N), possible=once(lambda _: True))
def row_count(facts: RowFacts, _: None) -> Draft:
    """Ask how many rows a strategy fills."""
    in_order = len(fill_rows(facts.lengths, facts.C, "next_fit").rows)
    mistakes: dict[str, Given | None] = {
        "one_each": facts.B,
        "as_few": -(-facts.N // facts.C),
        "in_order": in_order if facts.strategy != "next_fit" else None,
        "one_more": facts.R + 1,
    }
    names = {**_filled(facts), "N": facts.N, "tokens": facts.trace.rows.tokens}
    prompt = ("prompt" if facts.B > 1 else "prompt_one",)
    return Draft(facts.R, _FILLED, mistakes, names, prompt=prompt, phrases=_phrases(facts, facts.strategy))


@ROW_QUESTIONS.kind(
    "letters",
    lambda facts: [r for r in range(facts.R) if facts.short(r)] if facts.C < facts.N else [],
    possible=lambda facts: [r for r in range(facts.R) if facts.short(r)],
)
def row_documents(facts: RowFacts, r: int) -> Draft:
    """Ask whose tokens a strategy puts into one row."""
    in_order = fill_rows(facts.lengths, facts.C, "next_fit").rows
    there = sorted({b for b, _, _ in facts.rows[r]})
    mistakes: dict[str, Given | None] = {
        "in_order": [b for b, _, _ in in_order[r]] if facts.strategy != "next_fit" and r < len(in_order) else None,
        "first": facts.rows[r][0][:1],
        "everybody": range(facts.B),
    }
    names = {**_filled(facts), "r": r, "held": facts.held(r)}
    kept = {min(length, facts.C) for length in facts.lengths}
    tied = facts.strategy in LONGEST_FIRST and (len(kept) < facts.B or max(facts.lengths) > facts.C)
    prompt = ("prompt", *(["tied"] if tied else []), *(["equally_full"] if r in facts.equally_full else []))
    return Draft(there, _FILLED, mistakes, names, prompt=prompt, phrases=_phrases(facts, facts.strategy))


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
    splits, why = facts.strategy in _SPLITS, "why" if answer else "why_short"
    phrases = _phrases(facts, facts.strategy if splits else "drops")
    return Draft(answer, _FILLED, mistakes, _filled(facts), why=("why_kept" if splits else why,), phrases=phrases)


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
    names = {**_filled(facts), "longer": len(longer), "longest": max(facts.lengths)}
    answer, rule = facts.trace.rows.tokens_dropped, "splits" if facts.strategy in _SPLITS else "drops"
    why = "why_kept" if not answer else "why_one" if len(longer) == 1 else "why"
    return Draft(answer, _FILLED, mistakes, names, why=(why,), phrases=_phrases(facts, rule))


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
    moment, names = MovieMoment("borders", name="position_ids"), {**facts.in_words(r), "positions": positions}
    reset, rule = facts.reset_positions, {"rule": "restart" if facts.reset_positions else "run_on"}
    prompt = ("holds", *([] if reset else ["not_reset"]), "type" if n == facts.C else "type_without_pads")
    return Draft(positions, moment, mistakes, names, prompt=prompt, phrases=rule)


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
    pads, moment = facts.C - facts.n(r), MovieMoment("borders", name="end", whole=True)
    said = "pads" if pads > 1 else "one_pad" if pads else "no_pad"
    why, hint = ("why_pads", "hint_pads") if pads else ("why", "hint")
    return Draft(
        D,
        moment,
        mistakes,
        {"positions": positions, "pads": pads},
        prompt=(said, "how_many"),
        why=(why, "once" if D == 1 else "times"),
        hint=(hint,),
        phrases={"restarts": "restarts"},
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
        "document_so_far" if facts.isolate else "document_so_far_across": t + 1,
        "document": length,
        "row_so_far_masked" if facts.isolate else "row_so_far": q + 1,
        "row": n,
        "cells_masked" if facts.isolate or facts.causal else "cells": facts.C,
    }
    names = {**facts.in_words(r), "name": facts.letters[b], "token": start + t, "length": length}
    names |= {"earlier": t, "before": q, "place": "first" if facts.causal else "only"}
    names["whole"] = ("this piece of its document" if start else "its document") if facts.isolate else "the row"
    answer = int(mask_of(facts)[r, q].sum())
    moment = MovieMoment("attention", name=f"{facts.letters[b]}{start + t}")
    if facts.isolate:
        earlier, every = "why_one_earlier" if t == 1 else "why_earlier", "why_document"
        hint = "hint_earlier" if facts.causal else "hint_document"
    else:
        earlier, every = "why_one_in_row" if q == 1 else "why_in_row", "why_row"
        hint = "hint_in_row" if facts.causal else "hint_row"
    why = "why_itself" if answer == 1 else earlier if facts.causal else every
    return Draft(answer, moment, mistakes, names, why=(why,), hint=(hint,))


@ROW_QUESTIONS.kind("numbers", lambda facts: facts.queried, needs=(_ATTENTION,))
def mask_cells(facts: RowFacts, r: int) -> Draft:
    """Ask how many cells of the mask of one row are True."""
    lengths, n, isolate, causal = facts.trace.rows.lengths[r], facts.n(r), facts.isolate, facts.causal
    without_itself = "without_itself" if isolate and causal else "without_itself_runs"
    mistakes: dict[str, Given | None] = {
        "triangles_full" if isolate else "triangles": sum(length * (length + 1) // 2 for length in lengths),
        "squares_causal" if isolate else "squares": sum(length * length for length in lengths),
        "triangle_masked" if isolate else "triangle": n * (n + 1) // 2,
        "square": n * n,
        "cells": facts.C * facts.C,
        without_itself: sum(length * (length - 1) // 2 for length in lengths) or None,
        "tokens": n,
    }
    answer, pads = int(mask_of(facts)[r].sum()), facts.C - n
    blocks = " + ".join(str(x * (x + 1) // 2) if causal else f"{x} × {x}" for x in lengths)
    names = {**facts.in_words(r), "C": facts.C, "pads": pads, "after": n + 1}
    names["sum"] = f"{blocks} = {answer}" if len(lengths) > 1 else blocks
    if isolate:
        why, block = "why_triangles" if causal else "why_squares", "hint_blocks"
    else:
        why, block = "why_triangle" if causal else "why_square", "hint_block"
    b, _, stop = facts.rows[r][-1]
    moment = MovieMoment("attention", name=f"{facts.letters[b]}{stop - 1}")  # the last query of the row
    prompt, hint = ("prompt_pads" if pads else "prompt",), (block, "hint_half" if causal else "hint_full")
    return Draft(answer, moment, mistakes, names, prompt=prompt, why=(why,), hint=hint)


ROW_KINDS: tuple[QuestionKind[RowFacts], ...] = (
    *(cu_seqlens, row_token, row_count, row_documents, dropped_from, dropped_tokens, position_ids, document_count),
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


def _phrases(facts: RowFacts, rule: str) -> dict[str, str]:
    """Return the phrases of every question about filling rows: the strategy by its full name, and the rule."""
    return {"named": f"named_{facts.strategy}", "rule": rule}


def _filled(facts: RowFacts) -> dict[str, object]:
    """Return what the texts of every question about filling rows need."""
    return {"C": facts.C, "strategy": facts.strategy, "lengths": facts.lengths}
