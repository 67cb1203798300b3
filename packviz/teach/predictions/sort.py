"""Questions about the sort: where a sequence goes, the indices, and what enforce_sorted does."""

from __future__ import annotations

from packviz.compute.record import Trace
from packviz.rules import order_refusal
from packviz.teach.predictions.facts import MAX_TYPED, Facts, spread
from packviz.teach.predictions.model import Answer, Moment, Prediction, most_telling, slips_beside
from packviz.text import counted, listed

__all__ = ["enforced", "promised", "sorted_indices", "sorted_row"]

RAISES, SORTS, PACKS = "It raises a RuntimeError.", "It sorts them.", "It packs them as they are."


def sorted_row(trace: Trace, number: int = 0) -> Prediction | None:
    """Ask for the row of one sequence in the sorted batch; None where torch refused the lengths."""
    facts = Facts(trace)
    if not facts.packed:
        return None
    return most_telling([_sorted_row(facts, b) for b in spread(sorted(facts.placed))], number)


def sorted_indices(trace: Trace, number: int = 0) -> Prediction | None:  # noqa: ARG001
    """Ask for sorted_indices, or whether there are any; None where there are too many to type."""
    facts = Facts(trace)
    if not facts.packed or facts.B > MAX_TYPED or len(facts.placed) < facts.B:
        return None
    if trace.sorted.sorted_indices is None:
        return _no_indices(facts)
    order, rank = tuple(facts.order), tuple(facts.rank)
    ties = next((rule for b in range(facts.B) if (rule := facts.rule_of_ties(b))), "")
    first = f"row 0 holds {facts.letters[order[0]]}, which came as number {order[0]}"
    slips: list[tuple[Answer, str]] = [
        (
            rank,
            "This is `unsorted_indices`: where each sequence went. `sorted_indices` says which "
            f"sequence stands in each row: {first}.",
        ),
        (
            tuple(facts.trace.sorted.lengths.tolist()),
            "These are the sorted lengths. `sorted_indices` holds the numbers of the sequences, "
            f"counted from 0: {first}.",
        ),
        (
            tuple(facts.lengths),
            f"These are the lengths. `sorted_indices` holds the numbers of the sequences, counted from 0: {first}.",
        ),
        (order[::-1], f"This begins with the shortest. torch puts the longest first: {first}."),
        (tuple(b + 1 for b in order), f"Sequences are counted from 0, not from 1: {first}."),
        (
            tuple(range(facts.B)),
            f"This is the order in which they came. The sort moves the longest to the top: {first}.",
        ),
    ]
    return Prediction(
        key="sorted_indices",
        prompt=f"Type `sorted_indices`, one number for each row of the sorted batch.{ties}",
        form="numbers",
        answer=order,
        slips=slips_beside(order, slips),
        moment=Moment("sort", name="sorted"),
        why=f"Longest first: the rows hold {listed(facts.with_order(), 8)}, and these came as numbers "
        f"{listed(order, 8)}.",
        hint=f"There is one number for each of the {counted(facts.B, 'row')}: the sequence in it, A is "
        "0. The longest stands first.",
    )


def enforced(trace: Trace, number: int = 0) -> Prediction | None:  # noqa: ARG001
    """Ask what torch does with these lengths where enforce_sorted is True; None where it is not, or not known."""
    facts = Facts(trace)
    if facts.packed and not (trace.config and trace.config.enforce_sorted):
        return None
    answer, why, reasons = _accepted(facts) if facts.packed else _refused(facts)
    moment = Moment("sort", name="sorted") if facts.packed else Moment("sort")  # a refusal ends the stage
    return _checked(facts, "enforced", "does", answer, why, reasons, moment)


def promised(trace: Trace, number: int = 0) -> Prediction | None:  # noqa: ARG001
    """Ask what torch would do with these lengths if enforce_sorted were True; None where torch did not sort them."""
    facts = Facts(trace)
    if not facts.packed or trace.sorted.sorted_indices is None:
        return None
    refused = order_refusal(trace.padded.lengths, facts.columns) is not None
    answer, why, reasons = _refused(facts) if refused else _accepted(facts)
    return _checked(facts, "promised", "would", answer, why, reasons, Moment("sort", name="sorted"))


def _checked(
    facts: Facts, key: str, verb: str, answer: str, why: str, reasons: list[tuple[Answer, str]], moment: Moment
) -> Prediction:
    call = "`pack_padded_sequence` do with the lengths"
    return Prediction(
        key=key,
        prompt=f"What {verb} {call} {listed(facts.lengths, 8)} and `enforce_sorted=True`?",
        form="choice",
        answer=answer,
        slips=slips_beside(answer, reasons),
        moment=moment,
        why=why,
        hint="",
        choices=(RAISES, SORTS, PACKS),
    )


def _refused(facts: Facts) -> tuple[str, str, list[tuple[Answer, str]]]:
    lengths = facts.lengths
    b = next(b for b in range(1, facts.B) if lengths[b] > lengths[b - 1])
    pair = f"{facts.letters[b]} (length {lengths[b]}) comes after {facts.letters[b - 1]} (length {lengths[b - 1]})"
    why = f"{pair}. With `enforce_sorted=True` torch refuses lengths that are not in decreasing order."
    slips: list[tuple[Answer, str]] = [
        (SORTS, f"It sorts only with `enforce_sorted=False`. With True it only checks, and {pair}."),
        (PACKS, f"It checks the order first, and {pair}. Packing needs the longest sequence first."),
    ]
    return RAISES, why, slips


def _accepted(facts: Facts) -> tuple[str, str, list[tuple[Answer, str]]]:
    said = (
        "There is only one length"
        if facts.B == 1
        else f"No length is larger than the one before it: {listed(facts.lengths, 8)}"
    )
    why = f"{said}. torch has nothing to refuse, and `enforce_sorted=True` never sorts."
    slips: list[tuple[Answer, str]] = [
        (RAISES, f"It raises only where a longer sequence follows a shorter one. {said}."),
        (
            SORTS,
            "With `enforce_sorted=True` torch only checks the order. It sorts nothing, and `sorted_indices` is `None`.",
        ),
    ]
    return PACKS, why, slips


def _no_indices(facts: Facts) -> Prediction | None:
    if facts.trace.config is None:  # a PackedSequence that came without indices: nothing on the screen would tell
        return None
    kept, turned = (f"`tensor({list(order)})`" for order in (range(facts.B), range(facts.B)[::-1]))
    slips: list[tuple[Answer, str]] = [
        (kept, "The rows do keep their order, but with `enforce_sorted=True` torch writes no indices down."),
        (turned, "torch sorts nothing here, and the longest stands first already."),
    ]
    return Prediction(
        key="sorted_indices",
        prompt="What is `sorted_indices` after packing with `enforce_sorted=True`?",
        form="choice",
        answer="`None`",
        slips=slips_beside("`None`", slips if facts.B > 1 else slips[:1]),
        moment=Moment("sort", name="sorted"),
        why="With `enforce_sorted=True` torch only checks the order, so `sorted_indices` and "
        "`unsorted_indices` are `None`.",
        hint="",
        choices=("`None`", kept, *([turned] if facts.B > 1 else [])),
    )


def _from_the_end(facts: Facts, name: str) -> str:
    if len(set(facts.lengths)) == 1:
        return f"All lengths are equal, and here torch left the rows as they came: {name} stands as far down as before."
    return f"In that row {name} would stand if the shortest came first. torch puts the longest first."


def _sorted_row(facts: Facts, b: int) -> Prediction:
    row, name, length = facts.rank[b], facts.letters[b], facts.lengths[b]
    answer: Answer = (row,)
    moved = facts.trace.sorted.sorted_indices is not None
    slips: list[tuple[Answer, str]] = [
        ((b,), f"{b} is the row in which {name} came. The sort moved it: the longest sequence stands in row 0."),
        ((row + 1,), f"Rows are counted from 0, so the top row is row 0. {name} is number {row + 1} from the top."),
        ((facts.B - 1 - row,), _from_the_end(facts, name)),
    ]
    if moved:
        other = facts.order[b]
        reason = (
            f"`sorted_indices[{b}]` is {other}: that says which sequence stands in row {b}, and it is "
            f"{facts.letters[other]}. Where {name} went is `unsorted_indices[{b}]`."
        )
        slips.insert(0, ((other,), reason))
    longer = sum(other > length for other in facts.lengths)
    equal = row - longer
    who = counted(longer, "sequence") if longer else "No sequence"
    before = f"{who} {'are' if longer > 1 else 'is'} longer than {name}"
    before += f", and {equal} of the same length came before it" if equal else ""
    kept = f"`unsorted_indices[{b}]` is {row}." if moved else "torch sorted nothing: they came in this order."
    return Prediction(
        key="sorted_row",
        prompt=f"In which row of the sorted batch does sequence {name} stand? Rows are counted from "
        f"0.{facts.rule_of_ties(b)}",
        form="numbers",
        answer=answer,
        slips=slips_beside(answer, slips),
        moment=Moment("sort", name="sorted"),
        why=f"{before}, so it stands in row {row}. {kept}",
        hint=f"Count the sequences that are longer than {name}, whose length is {length}.",
    )
