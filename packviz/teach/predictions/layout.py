"""Questions about where things are: in the padded grid, in the sorted batch, and in the packed data."""

from itertools import accumulate

from packviz.rules.data import order_refusal
from packviz.teach.predictions.facts import PACKING_QUESTIONS, Facts
from packviz.teach.predictions.kind import Draft, Given, Need, once
from packviz.teach.predictions.prediction import MovieMoment

MAX_TYPED = 8  # at most this many numbers to type for one answer,
MAX_SIZES = 10  # or this many batch_sizes, which are short

_SORTED = MovieMoment("sort", name="sorted")
_PLACED = Need(lambda facts: facts.placed, "Choose another batch: here the order of equal lengths is torch's choice.")
_ENFORCED = Need(
    lambda facts: not facts.packed or (facts.trace.config and facts.trace.config.enforce_sorted),
    "Set enforce_sorted to true, or ask `promised`.",
)
_SORTED_BY_TORCH = Need(
    lambda facts: facts.packed and facts.trace.sorted.sorted_indices is not None,
    "Set enforce_sorted to false, or ask `enforced`.",
)


@PACKING_QUESTIONS.kind("numbers", once(lambda _: True))
def padded_shape(facts: Facts, _: None) -> Draft:
    """Ask for the shape of what enters the cell, (B, T, F) or (T, B, F)."""
    B, N, embedded = facts.B, facts.N, facts.embedded
    first, second, F = shape = tuple(facts.trace.padded.values.shape)

    def with_columns(columns: int) -> tuple[int, ...]:
        return (B, columns, F) if facts.batch_first else (columns, B, F)

    mistakes: dict[str, Given | None] = {
        "exchanged": (second, first, F),
        "no_features": (first, second),
        "exchanged_no_features": (second, first),
        "features_first": (F, first, second),
        "ids": (first, second, 1) if embedded else None,
        "lengths": facts.lengths,
        "longest": with_columns(facts.longest),
        "shortest": with_columns(facts.shortest),
        "all_tokens": with_columns(N),
        "mean": with_columns(round(N / B)),
        "packed": (N, F),
    }
    moment = MovieMoment("embed", name="embedded") if embedded else MovieMoment("pad", name="padded")
    return Draft(shape, moment, mistakes, {"F": F})


@PACKING_QUESTIONS.kind("numbers", once(lambda _: True))
def pad_count(facts: Facts, _: None) -> Draft:
    """Ask how many of the cells of the padded grid, B rows and T columns, are padding."""
    B, T = facts.B, facts.T
    mistakes = {
        "tokens": facts.N,
        "cells": B * T,
        "one_row": T - facts.shortest,
        "two_lengths": facts.longest - facts.shortest,
        "rows": len(facts.where(range(T))),
    }
    return Draft(int((~facts.trace.padded.mask).sum()), MovieMoment("pad", name="padded"), mistakes)


@PACKING_QUESTIONS.kind("numbers", lambda facts: facts.placed, needs=(_PLACED,))
def sorted_row(facts: Facts, b: int) -> Draft:
    """Ask for the row of one sequence in the sorted batch."""
    row, moved = facts.rank[b], facts.trace.sorted.sorted_indices is not None
    mistakes = {
        "sorted_indices": facts.order[b] if moved else None,
        "unsorted": b,
        "from_one": row + 1,
        "from_the_end": facts.B - 1 - row,
    }
    longer = facts.where(range(facts.lengths[b] + 1, facts.longest + 1))
    return Draft(row, _SORTED, mistakes, {"b": b, "longer": len(longer), "moved": moved})


@PACKING_QUESTIONS.kind(
    "numbers",
    once(lambda facts: 0 < len(facts.placed) == facts.B <= MAX_TYPED and _indices_known(facts)),
    possible=once(lambda facts: facts.packed and _indices_known(facts)),
)
def sorted_indices(facts: Facts, _: None) -> Draft:
    """Ask for sorted_indices, or whether there are any."""
    B, order = facts.B, facts.order
    if facts.trace.sorted.sorted_indices is None:
        choices = ("nothing", "kept", "turned") if B > 1 else ("nothing", "kept")
        return Draft("nothing", _SORTED, choices=choices, words="no_indices")
    mistakes: dict[str, Given | None] = {
        "unsorted_indices": facts.rank,
        "sorted_lengths": facts.sorted_lengths,
        "lengths": facts.lengths,
        "shortest_first": order[::-1],
        "from_one": [b + 1 for b in order],
        "unsorted": range(B),
    }
    return Draft(order, _SORTED, mistakes, {"tied": any(facts.tied)})


@PACKING_QUESTIONS.kind("choice", once(lambda _: True), needs=(_ENFORCED,))
def enforced(facts: Facts, _: None) -> Draft:
    """Ask what torch does with these lengths if enforce_sorted is True."""
    moment = _SORTED if facts.packed else MovieMoment("sort")  # a refusal ends the stage
    return _order_check(facts, "does", moment, refused=not facts.packed)


@PACKING_QUESTIONS.kind("choice", once(lambda _: True), needs=(_SORTED_BY_TORCH,))
def promised(facts: Facts, _: None) -> Draft:
    """Ask what torch would do with these lengths if enforce_sorted were True."""
    refused = order_refusal(facts.trace.padded.lengths, facts.T) is not None
    return _order_check(facts, "would", _SORTED, refused=refused)


@PACKING_QUESTIONS.kind(
    "numbers",
    once(lambda facts: facts.packed and facts.longest <= MAX_SIZES and facts.batch_sizes != facts.sorted_lengths),
    possible=once(lambda facts: facts.packed),
)
def batch_sizes(facts: Facts, _: None) -> Draft:
    """Ask for all of batch_sizes, unless the sorted lengths happen to be the right answer."""
    sizes = facts.batch_sizes
    mistakes: dict[str, Given | None] = {
        "lengths": facts.lengths,
        "sorted_lengths": facts.sorted_lengths,
        "rising_lengths": facts.sorted_lengths[::-1],
        "reversed": sizes[::-1],
        "totals": list(accumulate(sizes)),
        "offsets": facts.offsets,
        "tokens": facts.trace.padded.mask.sum(0).tolist(),
        "ended": [facts.B - size for size in sizes],
        "all": [facts.B] * len(sizes),
    }
    return Draft(sizes, MovieMoment("pack", facts.timesteps[-1], whole=True), mistakes)


@PACKING_QUESTIONS.kind(
    "numbers",
    lambda facts: [t for t in facts.timesteps if facts.batch_sizes[t] not in _lengths_at(facts, t)],
    possible=lambda facts: facts.timesteps,
)
def batch_size(facts: Facts, t: int) -> Draft:
    """Ask for one entry of batch_sizes that does not equal the length at the same place."""
    B, size, lengths = facts.B, facts.batch_sizes[t], _lengths_at(facts, t)
    mistakes = {
        "length": lengths[0] if lengths else None,
        "sorted_length": lengths[-1] if lengths else None,
        "at_least": len(facts.where(range(t, facts.longest + 1))),
        "above": len(facts.where(range(t + 2, facts.longest + 1))),
        "ended": B - size,
        "offset": facts.offsets[t],
        "all": B,
    }
    return Draft(size, MovieMoment("pack", t), mistakes, {"t": t})


@PACKING_QUESTIONS.kind("numbers", lambda facts: facts.placed_rows, needs=(_PLACED,))
def packed_row(facts: Facts, n: int) -> Draft:
    """Ask for the packed row of one token."""
    b, t = facts.trace.packed.origins[n]
    row, start, lengths = facts.rank[b], facts.offsets[t], facts.lengths
    before = sum(lengths[:b])
    mistakes = {
        "by_sequence": before + t,
        "by_sorted_sequence": sum(lengths[other] for other in facts.order[:row]) + t,
        "unsorted": start + b,
        "grid": b * facts.T + t,
        "grid_by_step": t * facts.B + b,
        "nobody_ends": t * facts.B + row,
        "from_one": n + 1,
    }
    return Draft(n, MovieMoment("pack", t), mistakes, {"b": b, "t": t, "before": before})


@PACKING_QUESTIONS.kind("letters", lambda facts: facts.placed_rows, single=True, needs=(_PLACED,))
def packed_token(facts: Facts, n: int) -> Draft:
    """Ask which sequence the token in one packed row belongs to."""
    b, t = facts.trace.packed.origins[n]
    mistakes = {
        "by_sequence": facts.owner_of(n, range(facts.B)),
        "unsorted": n - facts.offsets[t],
        "by_sorted_sequence": facts.owner_of(n, facts.order),
        "nobody_ends": facts.order[n % facts.B],
        "nobody_ends_unsorted": n % facts.B,
    }
    names = {"n": n, "t": t, "row": facts.rank[b], "start": facts.offsets[t], "tied": facts.tied[b]}
    return Draft(b, MovieMoment("pack", t), mistakes, names)


def _order_check(facts: Facts, verb: str, moment: MovieMoment, *, refused: bool) -> Draft:
    lengths, choices = facts.lengths, ("raises", "sorts", "packs")
    if not refused:
        return Draft("packs", moment, names={"verb": verb}, choices=choices, words="in_order")
    b = next(b for b in range(1, facts.B) if lengths[b] > lengths[b - 1])
    return Draft("raises", moment, names={"verb": verb, "b": b}, choices=choices, words="out_of_order")


def _indices_known(facts: Facts) -> bool:
    """Return whether the existence of indices can be inferred: not for a PackedSequence given without them."""
    return facts.trace.sorted.sorted_indices is not None or facts.trace.config is not None


def _lengths_at(facts: Facts, t: int) -> tuple[int, ...]:
    """Return the lengths that may be mistaken for entry t of batch_sizes: the t-th in original and in sorted order."""
    if facts.B > 1 and facts.shortest == facts.longest:
        return (facts.longest,)
    return (facts.lengths[t], facts.sorted_lengths[t]) if t < facts.B else ()
