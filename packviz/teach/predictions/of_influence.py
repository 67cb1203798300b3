"""Questions about influence: which outputs of a row, and which documents, depend on one of its tokens."""

from collections.abc import Iterator
from typing import Literal

from packviz.teach.predictions.kind import Draft, Given, Need
from packviz.teach.predictions.prediction import MovieMoment
from packviz.teach.predictions.row_facts import ROW_QUESTIONS, RowFacts, ends

_VERDICT = MovieMoment("leak", name="verdict", whole=True)
_CONVOLUTION = Need(lambda facts: facts.layer == "conv", 'Set layer to "conv".')


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
    k, layers, answer = facts.kernel_size, facts.num_layers, int(hit.sum())
    too_many = "too_many_for_it" if k - 1 > length else "too_many_layers" if layers > 1 else "too_many"
    mistakes: dict[str, Given | None] = {
        "kernel": k,
        too_many: k - 1,
        "one_layer": min(k - 1, length),
        "everything": length,
        "first": 1,
        "nothing": 0,
    }
    names = {**facts.in_words(r), "name": facts.letters[b], "length": length, "k": k, "num_layers": layers}
    names |= {"reach": layers * (k - 1), "first": "the first token" if k == 2 else f"the first {k - 1} tokens"}
    reaches = "in_layers" if layers > 1 else "some_before" if k > 2 else "one_before"
    if facts.isolate or k == 1:
        why = "why_cut" if facts.isolate else "why_alone"
    elif answer == length:
        why = "why_only" if length == 1 else "why_all"
    else:
        why = "why_first" if answer == 1 else "why_some"
    phrases = {"reaches": "itself_only" if k == 1 else reaches}
    return Draft(answer, _VERDICT, mistakes, names, why=(why,), phrases=phrases)


@ROW_QUESTIONS.kind("numbers", lambda facts: [*ends(facts)])
def changed_tokens(facts: RowFacts, place: tuple[int, int]) -> Draft:
    """Ask how many outputs of a row change if the last token of a document changes."""
    r, d = place
    b, first, length = facts.pieces(r)[d]
    n, last = facts.n(r), first + length - 1
    answer, after_it = int(facts.influence(r)[:, last].sum()), n - last - 1
    readers, apart = _readers(facts), "_apart" if facts.isolate else ""
    beyond = "_conv" if after_it >= answer else "_row" if readers == "row" else ""
    mistakes: dict[str, Given | None] = {
        "itself": 1,
        f"from_there{apart or ('_conv' if readers == 'conv' else '')}": n - last,
        f"after_it{apart or beyond}": after_it or None,
        f"document{apart}": length,
        f"next{apart}": facts.pieces(r)[d + 1][2] if d + 1 < len(facts.rows[r]) else None,
        f"row{apart}": n,
        "nothing": 0,
    }
    names = {**_about_end(facts, r, b), "length": length}
    own, hint = {"own": "own_only" if answer == 1 else "own_among"}, ("hint_apart" if apart else "hint_together",)
    why = f"why_{readers}" if not apart else "why_document" if readers == "row" else "why_last"
    return Draft(answer, _VERDICT, mistakes, names, prompt=_prompt(facts, r), why=(why,), hint=hint, phrases=own)


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
        "next_unreached" if len({*every[d : d + 2]}) > len({*there}) else "next": sorted({*every[d : d + 2]}),
        "row": sorted({*every}),
        "nobody": (),
    }
    why, hint = ("apart", "apart") if facts.isolate else (_readers(facts), "together")
    names = _about_end(facts, r, b)
    told, asked = sorted({*there}), _prompt(facts, r)
    return Draft(told, _VERDICT, mistakes, names, prompt=asked, why=(f"why_{why}",), hint=(f"hint_{hint}",))


def _later(facts: RowFacts) -> Iterator[tuple[int, int]]:
    """Yield row and number of every document that has another one before it in its row."""
    yield from ((r, d) for r in facts.watched for d in range(1, len(facts.rows[r])))


def _readers(facts: RowFacts) -> Literal["row", "conv", "later"]:
    """Return which tokens read another one if nothing keeps documents apart: all of the row, or how far later ones."""
    if facts.layer == "attention" and not facts.causal:
        return "row"
    return "conv" if facts.layer == "conv" else "later"


def _prompt(facts: RowFacts, r: int) -> tuple[str, ...]:
    """Return the sentences of a question about a row: what it holds, and a mask if there is one, and what is asked."""
    masked = facts.layer == "attention" and facts.isolate and len(facts.rows[r]) > 1
    return "holds_masked" if masked else "holds", "prompt"


def _about_end(facts: RowFacts, r: int, b: int) -> dict[str, object]:
    """Return what the texts need that ask about the last token of sequence b in row r."""
    reach = facts.num_layers * (facts.kernel_size - 1)
    return {**facts.in_words(r), "name": facts.letters[b], "reach": reach}
