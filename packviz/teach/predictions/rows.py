"""Questions about the packed rows: where a token stands, and whose token stands somewhere."""

from __future__ import annotations

from packviz.compute.record import Trace
from packviz.teach.predictions.facts import Facts, spread
from packviz.teach.predictions.model import Answer, Moment, Prediction, most_telling, slips_beside
from packviz.text import counted

__all__ = ["packed_row", "packed_token"]


def packed_row(trace: Trace, number: int = 0) -> Prediction | None:
    """Ask for the packed row of one token; None where torch refused, or equal lengths leave it open."""
    facts = Facts(trace)
    if not facts.packed:
        return None
    places = [(b, t) for b, t in facts.origins if b in facts.placed and t < facts.filmed]
    return most_telling([_packed_row(facts, b, t) for b, t in spread(places)], number)


def packed_token(trace: Trace, number: int = 0) -> Prediction | None:
    """Ask which sequence the token of one packed row belongs to; None as for packed_row."""
    facts = Facts(trace)
    if not facts.packed:
        return None
    rows = [n for n, (b, t) in enumerate(facts.origins) if b in facts.placed and t < facts.filmed]
    return most_telling([_packed_token(facts, n) for n in spread(rows)], number)


def _thing(facts: Facts) -> str:
    return "cell" if bool(facts.trace.packed_is_pad.any()) else "token"


def _packed_row(facts: Facts, b: int, t: int) -> Prediction:
    n, name, thing = facts.rows[b, t], facts.letters[b], _thing(facts)
    answer: Answer = (n,)
    return Prediction(
        key="packed_row",
        prompt=f"In which row of the packed `data` does the {thing} of sequence {name} at time step {t} stand? "
        f"Rows are counted from 0.{facts.rule_of_ties(b)}",
        form="numbers",
        answer=answer,
        slips=slips_beside(answer, _other_rows(facts, b, t)),
        moment=Moment("pack", t),
        why=_address(facts, b, t),
        hint=f"Count the rows of all time steps before t = {t}, then those at t = {t} that stand "
        f"before {name} in the sorted order.",
    )


def _address(facts: Facts, b: int, t: int) -> str:
    start, row, name = facts.offsets[t], facts.rank[b], facts.letters[b]
    before = f"The time steps before t = {t} take {counted(start, 'row')}" if t else "The rows of t = 0 come first"
    return f"{before}, and {name} stands in row {row} of the sorted batch: {start} + {row} = {start + row}."


def _other_rows(facts: Facts, b: int, t: int) -> list[tuple[Answer, str]]:
    lengths, row, start, name = facts.lengths, facts.rank[b], facts.offsets[t], facts.letters[b]
    before = sum(lengths[:b])
    before_sorted = sum(lengths[other] for other in facts.order[:row])
    steps = f"`data` goes time step by time step: first t = 0 of all {counted(facts.B, 'sequence')}"
    return [
        (
            (before + t,),
            f"You read sequence by sequence: {counted(before, 'row')} before {name}, then t = {t}. "
            f"{steps}, then t = 1.",
        ),
        ((before_sorted + t,), f"You read sequence by sequence in the sorted order. {steps}, then t = 1."),
        (
            (start + b,),
            f"You forgot the sort. t = {t} begins at row {start}, but {name} is not number {b} there: "
            f"after the sort it stands in row {row}.",
        ),
        (
            (b * facts.columns + t,),
            f"{b} × {facts.columns} + {t} is its place in the padded grid, read row by row. The "
            f"packed `data` has no rows for padding, and {steps[7:]}.",
        ),
        (
            (t * facts.B + b,),
            f"{t} × {facts.B} + {b} counts {facts.B} rows for every time step, in the order in which "
            "the sequences came.",
        ),
        (
            (t * facts.B + row,),
            f"{t} × {facts.B} + {row} counts {facts.B} rows for every time step. But sequences that "
            f"have ended take no rows: t = {t} begins at row {start}.",
        ),
        ((start + row + 1,), f"Rows are counted from 0, so the first is row 0. {_address(facts, b, t)}"),
    ]


def _packed_token(facts: Facts, n: int) -> Prediction:
    b, t = facts.origins[n]
    answer: Answer = (facts.letters[b],)
    steps = f"row {n} belongs to t = {t}, which begins at row {facts.offsets[t]}"
    row = facts.rank[b]
    if row:
        place = f"{counted(row, 'row')} further stands row {row} of the sorted batch"
    else:
        place = "each time step begins with row 0 of the sorted batch"
    return Prediction(
        key="packed_token",
        prompt=f"Whose {_thing(facts)} stands in row {n} of the packed `data`? Rows are counted from 0. "
        f"Type the letter of the sequence.{facts.rule_of_ties(b)}",
        form="letters",
        answer=answer,
        slips=slips_beside(answer, _other_owners(facts, n, t, steps)),
        moment=Moment("pack", t),
        why=f"{steps.capitalize()}, and {place}: {facts.letters[b]}.",
        hint=f"{steps.capitalize()}. Within a time step the sorted order holds, the longest first.",
        letters=facts.letters,
        single=True,
    )


def _other_owners(facts: Facts, n: int, t: int, steps: str) -> list[tuple[Answer, str]]:
    by_time = f"`data` goes time step by time step: {steps}"
    too_many = f"You counted {facts.B} rows for every time step"
    owners = [
        (facts.runs[n], f"You read sequence by sequence. {by_time}."),
        (n - facts.offsets[t], f"You forgot the sort: {steps}, but within a time step the longest stands first."),
        (facts.sorted_runs[n], f"You read sequence by sequence in the sorted order. {by_time}."),
        (facts.order[n % facts.B], f"{too_many}. Sequences that have ended take no rows: {steps}."),
        (n % facts.B, f"{too_many}, in the order in which the sequences came. But {steps}."),
    ]
    return [((facts.letters[b],), reason) for b, reason in owners]
