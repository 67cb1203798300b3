"""Questions about the loss of a batch in rows: what the label of a token is, and what it weighs."""

from collections.abc import Sequence

from packviz.facts.token_losses import MEANS
from packviz.inputs.documents import NO_LABEL
from packviz.teach.predictions.kind import Draft, Need
from packviz.teach.predictions.prediction import MovieMoment
from packviz.teach.predictions.row_facts import MAX_PIECES, ROW_QUESTIONS, RowFacts, ends

_ORDER = ("documents", "rows", "tokens")  # of means that give the same weight, the first one is the answer
_LABELS = Need(lambda facts: facts.trace.logits is not None, "Type words or integers: other numbers have no labels.")


@ROW_QUESTIONS.kind("choice", lambda facts: [*ends(facts)], needs=(_LABELS,))
def last_label(facts: RowFacts, place: tuple[int, int]) -> Draft:
    """Ask for the label of the last token of a document."""
    r, d = place
    b, first, length = facts.pieces(r)[d]
    row = facts.rows[r]
    following = row[d + 1][0] if d + 1 < len(row) else None
    label = int(facts.trace.labels[r, first + length - 1])
    names = {**facts.in_words(r), "name": facts.letters[b], "shift_labels": facts.shift_labels}
    names["other"] = facts.letters[following] if following is not None else ""
    choices = ("none", "itself", *(["next"] if following is not None else ["pad"]))
    answer = "none" if label == NO_LABEL else "next"
    moment, why = MovieMoment("losses", name="labels"), "why_none" if answer == "none" else "why"
    rule = {"rule": "in_document" if facts.shift_labels == "document" else "in_row"}
    return Draft(answer, moment, names=names, choices=choices, why=(why,), hint=(), phrases=rule)


def _weighed(facts: RowFacts) -> Sequence[tuple[int, int, int]]:
    """Return sequence, row and piece of the documents with a label, if they do not all have as many."""
    counts, short = {count for *_, count in facts.targets}, all(map(facts.short, range(facts.R)))
    return [(b, r, d) for b, r, d, _ in facts.targets] if len(counts) > 1 and short and facts.R <= MAX_PIECES else []


@ROW_QUESTIONS.kind("choice", _weighed, needs=(_LABELS,))
def heavier(facts: RowFacts, place: tuple[int, int, int]) -> Draft:
    """Ask in which mean a token of a document weighs the most."""
    b, row, piece = place
    found = facts.losses
    d = found.documents.index(facts.rows[row][piece])
    weights: dict[str, float] = {over: float(found.weights("rows", over)[d].max()) for over in MEANS}
    most = max(weights.values())
    answer = next(name for name in _ORDER if weights[name] == most)
    choices = tuple(name for name in weights if name == answer or weights[name] < most)
    names = {
        "name": facts.letters[b],
        "all_held": "; ".join(f"row {r} holds {facts.held(r)}" for r in range(facts.R)),
        "shift_labels": facts.shift_labels,
        **{f"by_{over}": f"{each:.3g}" for over, each in weights.items()},
    }
    compared = MovieMoment("losses", name=MEANS[-1], since=MEANS[0])  # only there have all means been seen
    return Draft(answer, compared, names=names, choices=choices, phrases={"rule": "rule"})
