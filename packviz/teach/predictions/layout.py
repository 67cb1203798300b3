"""Questions about where things are: in the padded grid, in the sorted batch, and in the packed data."""

from itertools import accumulate

from packviz.rules.data import order_refusal
from packviz.teach.predictions.facts import PACKING_QUESTIONS, Facts
from packviz.teach.predictions.kind import Draft, Given, Need, once
from packviz.teach.predictions.prediction import MovieMoment

MAX_TYPED = 8  # at most this many numbers to type for one answer,
MAX_SIZES = 10  # or this many batch_sizes, which are short
MAX_ADDED = 4  # at most this many lengths whose sum is written out

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
        "not_embedded" if embedded else "no_feature" if F == 1 else "no_features": (first, second),
        "exchanged_no_features": (second, first),
        "features_first": (F, first, second),
        "ids": (first, second, 1) if embedded else None,
        "length" if B == 1 else "lengths": facts.lengths,
        "longest": with_columns(facts.longest),
        "shortest": with_columns(facts.shortest),
        "all_tokens": with_columns(N),
        "about_mean" if N % B else "mean": with_columns(round(N / B)),
        "packed": (N, F),
    }
    moment = MovieMoment("embed", name="embedded") if embedded else MovieMoment("pad", name="padded")
    names = {"B": B, "T": facts.T, "F": F, "N": N, "cell": facts.cell, "batch_first": facts.batch_first}
    names |= {"axes": "(B, T, F)" if facts.batch_first else "(T, B, F)", "item": "token" if embedded else "time step"}
    names |= {"longest": facts.longest, "shortest": facts.shortest, "lengths": facts.lengths, "mean": round(N / B)}
    wider = facts.longest < facts.T
    sizes = ("sequences", "columns" if wider else "width")
    phrases = dict(zip(("first", "second"), sizes if facts.batch_first else sizes[::-1], strict=True))
    phrases["width_rule"] = "passed" if wider else "fits"
    prompt = "prompt_embedded" if embedded else "prompt_number" if F == 1 else "prompt_vector"
    return Draft(shape, moment, mistakes, names, prompt=(prompt,), phrases=phrases)


@PACKING_QUESTIONS.kind("numbers", once(lambda _: True))
def pad_count(facts: Facts, _: None) -> Draft:
    """Ask how many of the cells of the padded grid, B rows and T columns, are padding."""
    B, T, longest, shortest = facts.B, facts.T, facts.longest, facts.shortest
    mistakes = {
        "tokens" if B == 1 else "tokens_added": facts.N,
        "cells": B * T,
        "one_row" if shortest == longest else "shortest_row": T - shortest,
        "two_lengths": longest - shortest,
        "rows": len(facts.where(range(T))),
    }
    added = "the sum of the lengths" if B > MAX_ADDED else " + ".join(map(str, facts.lengths))
    names = {"B": B, "T": T, "N": facts.N, "cells": B * T, "longest": longest, "shortest": shortest, "added": added}
    pads, moment = int((~facts.trace.padded.mask).sum()), MovieMoment("pad", name="padded")
    return Draft(pads, moment, mistakes, names, hint=("hint_rows" if B > 1 else "hint_row",))


@PACKING_QUESTIONS.kind("numbers", lambda facts: facts.placed, needs=(_PLACED,))
def sorted_row(facts: Facts, b: int) -> Draft:
    """Ask for the row of one sequence in the sorted batch."""
    row, moved = facts.rank[b], facts.trace.sorted.sorted_indices is not None
    mistakes = {
        "sorted_indices": facts.order[b] if moved else None,
        "unsorted": b,
        "from_one": row + 1,
        "all_equal" if facts.shortest == facts.longest else "from_the_end": facts.B - 1 - row,
    }
    length, there = facts.lengths[b], facts.letters[facts.order[b]]
    longer = len(facts.where(range(length + 1, facts.longest + 1)))
    names = {"b": b, "name": facts.letters[b], "length": length, "there": there, "longer": longer, "same": row - longer}
    why = f"{'shorter' if longer else 'longest'}{'_tied' if row > longer else ''}"
    return Draft(
        row, _SORTED, mistakes, names, prompt=_prompt(tied=facts.tied[b]), why=(why, "moved" if moved else "kept")
    )


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
        both = {"order": order, "turned": order[::-1]}
        return Draft("nothing", _SORTED, names=both, choices=choices, words="no_indices", hint=())
    mistakes: dict[str, Given | None] = {
        "unsorted_indices": facts.rank,
        "sorted_lengths": facts.sorted_lengths,
        "lengths": facts.lengths,
        "shortest_first": order[::-1],
        "from_one": [b + 1 for b in order],
        "unsorted": range(B),
    }
    rows = ", ".join(facts.letters[b] for b in order)
    names = {"order": order, "rows": rows, "number": order[0], "top": facts.letters[order[0]]}
    phrases = {"first": "first", "numbers": "numbers"}
    prompt, why = _prompt(tied=any(facts.tied)), ("why_one" if B == 1 else "why",)
    return Draft(order, _SORTED, mistakes, names, prompt=prompt, why=why, phrases=phrases)


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
        "columns": facts.trace.padded.mask.sum(0).tolist(),
        "ended": [facts.B - size for size in sizes],
        "all": [facts.B] * len(sizes),
    }
    names = {"B": facts.B, "N": facts.N, "longest": facts.longest}
    names |= {"first": sizes[0], "last": sizes[-1], "end": facts.longest - 1}
    moment, one = MovieMoment("pack", facts.timesteps[-1], whole=True), "_one" if facts.longest == 1 else ""
    phrases = {"counts": "counts"}
    return Draft(sizes, moment, mistakes, names, why=(f"why{one}",), hint=(f"hint{one}",), phrases=phrases)


@PACKING_QUESTIONS.kind(
    "numbers",
    lambda facts: [t for t in facts.timesteps if facts.batch_sizes[t] not in _lengths_at(facts, t)],
    possible=lambda facts: facts.timesteps,
)
def batch_size(facts: Facts, t: int) -> Draft:
    """Ask for one entry of batch_sizes that does not equal the length at the same place."""
    B, size, lengths = facts.B, facts.batch_sizes[t], _lengths_at(facts, t)
    mistakes = {
        "every_length" if B > 1 and facts.shortest == facts.longest else "length": lengths[0] if lengths else None,
        "sorted_length": lengths[-1] if lengths else None,
        "at_least": len(facts.where(range(t, facts.longest + 1))),
        "above": len(facts.where(range(t + 2, facts.longest + 1))),
        "none_ended" if size == B else "ended": B - size,
        "offset": facts.offsets[t],
        "all": B,
    }
    names = {"B": B, "t": t, "before": t - 1, "after": t + 1, "name": facts.letters[t] if t < B else ""}
    why = "why" if size < B else "why_all" if B > 1 else "why_only"
    return Draft(size, MovieMoment("pack", t), mistakes, names, why=(why,), phrases={"means": "means"})


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
    names: dict[str, object] = {"name": facts.letters[b], "item": _item(facts), "B": facts.B, "T": facts.T}
    names |= {"b": b, "t": t, "before": before, "begins": start, "row": row}
    phrases = {"by_step": "only_one" if facts.B == 1 else "all_first", "steps": "steps"}
    phrases["address"] = "later" if t else "at_once"
    prompt, hint = _prompt(tied=facts.tied[b]), ("hint" if t else "hint_at_once",)
    return Draft(n, MovieMoment("pack", t), mistakes, names, prompt=prompt, hint=hint, phrases=phrases)


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
    names: dict[str, object] = {"name": facts.letters[b], "item": _item(facts), "B": facts.B}
    names |= {"n": n, "t": t, "row": facts.rank[b], "start": facts.offsets[t]}
    prompt, why = _prompt(tied=facts.tied[b]), ("why" if facts.rank[b] else "why_first",)
    return Draft(b, MovieMoment("pack", t), mistakes, names, prompt=prompt, why=why, phrases={"belongs": "belongs"})


def _order_check(facts: Facts, verb: str, moment: MovieMoment, *, refused: bool) -> Draft:
    lengths, choices = facts.lengths, ("raises", "sorts", "packs")
    names = {"verb": verb, "lengths": lengths, "B": facts.B}
    if not refused:
        said = {"said": "only_one" if facts.B == 1 else "decreasing"}
        return Draft("packs", moment, names=names, choices=choices, words="in_order", hint=(), phrases=said)
    b = next(b for b in range(1, facts.B) if lengths[b] > lengths[b - 1])
    names |= {"longer": facts.letters[b], "long": lengths[b], "shorter": facts.letters[b - 1], "short": lengths[b - 1]}
    pair = {"pair": "pair"}
    return Draft("raises", moment, names=names, choices=choices, words="out_of_order", hint=(), phrases=pair)


def _prompt(*, tied: bool) -> tuple[str, ...]:
    """Return the sentences of a prompt that says how equal lengths are sorted, if there are any."""
    return ("prompt", "tied") if tied else ("prompt",)


def _item(facts: Facts) -> str:
    """Return what is in a packed row."""
    return "entry" if facts.pads_packed else "token"


def _indices_known(facts: Facts) -> bool:
    """Return whether the existence of indices can be inferred: not for a PackedSequence given without them."""
    return facts.trace.sorted.sorted_indices is not None or facts.trace.config is not None


def _lengths_at(facts: Facts, t: int) -> tuple[int, ...]:
    """Return the lengths that may be mistaken for entry t of batch_sizes: the t-th in original and in sorted order."""
    if facts.B > 1 and facts.shortest == facts.longest:
        return (facts.longest,)
    return (facts.lengths[t], facts.sorted_lengths[t]) if t < facts.B else ()
