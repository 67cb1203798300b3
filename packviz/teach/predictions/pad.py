"""Questions about padding: the shape of the grid, and how much of it is padding."""

from __future__ import annotations

from packviz.compute.record import Trace
from packviz.teach.predictions.facts import Facts
from packviz.teach.predictions.model import Answer, Moment, Prediction, slips_beside
from packviz.text import counted, listed

__all__ = ["pad_count", "padded_shape"]

Shape = tuple[int, ...]


def padded_shape(trace: Trace, number: int = 0) -> Prediction | None:  # noqa: ARG001 (there is one such question)
    """Ask for the shape of what enters the cell, (B, T, F) or (T, B, F)."""
    facts, answer = Facts(trace), tuple(trace.padded.values.shape)
    embedded = trace.padded.embedding is not None
    layout = f"`batch_first={trace.padded.batch_first}`"
    what = (
        f"the padded and embedded `x` (each token becomes {counted(answer[2], 'number')})"
        if embedded
        else "the padded `x`"
    )
    first, second = _axes(facts)
    return Prediction(
        key="padded_shape",
        prompt=f"Type the shape of {what} that enters the {facts.cell} with {layout}.",
        form="numbers",
        answer=answer,
        slips=slips_beside(
            answer, [*_exchanged(facts, layout, answer), _lengths(facts), *_other_widths(facts, answer)]
        ),
        moment=Moment("embed", name="embedded") if embedded else Moment("pad", name="padded"),
        why=f"With {layout} the shape is {_order(facts)}: {first}, {second}, F = {answer[2]}.",
        hint=f"With {layout} the order of the axes is {_order(facts)}.",
    )


def pad_count(trace: Trace, number: int = 0) -> Prediction | None:  # noqa: ARG001
    """Ask how many of the cells of the padded grid, B rows and T columns, are padding."""
    facts = Facts(trace)
    B, T, N = facts.B, facts.columns, facts.N
    pads = int((~trace.padded.mask).sum())
    answer: Answer = (pads,)
    rest = f"The other {pads} of the {B} × {T} = {B * T} cells are padding."
    if not pads:
        rest = f"They fill the whole grid: {B} × {T} = {counted(B * T, 'cell')}."
    short = sum(length < T for length in facts.lengths)
    slips: list[tuple[Answer, str]] = [
        ((N,), f"{N} is the number of tokens, {_sum(facts)}. {rest}"),
        ((B * T,), f"{B} × {T} = {B * T} counts all cells of the grid. {N} of them hold tokens."),
        (
            (T - facts.shortest,),
            f"{T} - {facts.shortest} is the padding of {_padded_most(facts)} alone. Add up all {B} rows.",
        ),
        (
            (facts.longest - facts.shortest,),
            f"{facts.longest} - {facts.shortest} compares two lengths. Each row is padded to T = {T}: "
            f"add up all {B} rows.",
        ),
        (
            (short,),
            f"{counted(short, 'row')} of the grid {'has' if short == 1 else 'have'} padding, but one "
            "row can have several pads.",
        ),
    ]
    return Prediction(
        key="pad_count",
        prompt="How many cells of the padded grid are padding? A cell is one time step of one sequence.",
        form="numbers",
        answer=answer,
        slips=slips_beside(answer, slips),
        moment=Moment("pad", name="padded"),
        why=f"The grid has {B} × {T} = {counted(B * T, 'cell')} and the lengths add up to {N}: {B * T} - {N} = {pads}.",
        hint=f"Each of the {counted(B, 'row')} is as wide as the grid, T = {T}: what a sequence leaves "
        "free is padding.",
    )


def _padded_most(facts: Facts) -> str:
    return "one sequence" if facts.shortest == facts.longest else "the shortest sequence"


def _order(facts: Facts) -> str:
    return "(B, T, F)" if facts.trace.padded.batch_first else "(T, B, F)"


def _axes(facts: Facts) -> tuple[str, str]:
    wide = "the longest length" if facts.columns == facts.longest else "the columns that `x` came with"
    axes = f"B = {counted(facts.B, 'sequence')}", f"T = {facts.columns} ({wide})"
    return axes if facts.trace.padded.batch_first else (axes[1], axes[0])


def _sum(facts: Facts) -> str:
    return "the sum of the lengths" if facts.B > 4 else " + ".join(map(str, facts.lengths))


def _exchanged(facts: Facts, layout: str, answer: Shape) -> list[tuple[Answer, str]]:
    first, second, F = answer
    one = "Even a single number is an axis of its own" if F == 1 else f"Each token is a row of {F} numbers"
    ids = facts.trace.padded.embedding is not None
    missing = (
        "That is the shape of the ids. The embedding makes each id a row of "
        f"{counted(F, 'number')}, one more axis at the end."
        if ids
        else f"The last axis is missing. {one}: F = {F}."
    )
    exchanged = f"The first two axes are exchanged. With {layout} the order is {_order(facts)}."
    return [
        ((second, first, F), exchanged),
        ((first, second), missing),
        (
            (second, first),
            f"The last axis, F = {F}, is missing, and the first two are exchanged: the order is {_order(facts)}.",
        ),
        ((F, first, second), f"The features stand last: the order is {_order(facts)}."),
        *(
            [((first, second, 1), f"The embedding makes each id a row of {F} numbers, so F is {F}, not 1.")]
            if ids
            else []
        ),
    ]


def _lengths(facts: Facts) -> tuple[Answer, str]:
    what = (
        f"{facts.longest} is the length of the only sequence"
        if facts.B == 1
        else "These are the lengths, one number for each sequence"
    )
    return tuple(facts.lengths), f"{what}. The shape has one number for each axis: {_order(facts)}."


def _other_widths(facts: Facts, answer: Shape) -> list[tuple[Answer, str]]:
    B, T, F, N = facts.B, facts.columns, answer[2], facts.N
    needs = f"T = {T}: every row is as wide as the grid"
    if facts.longest == T:
        needs = f"T = {T}: the longest sequence must fit"

    def shape(columns: int) -> Shape:
        return (B, columns, F) if facts.trace.padded.batch_first else (columns, B, F)

    return [
        (shape(facts.longest), f"{facts.longest} is the longest length, but `x` came with more columns: T = {T}."),
        (shape(facts.shortest), f"{facts.shortest} is the shortest length. {needs}, so nothing is cut off."),
        (shape(N), f"{N} is the number of all tokens. {needs}, not all of them in one row."),
        (
            shape(round(N / B)),
            f"{round(N / B)} is {'about ' if N % B else ''}the mean of the lengths {listed(facts.lengths, 8)}. "
            f"{needs}.",
        ),
        (
            (N, F),
            f"({N}, {F}) is the shape of the packed `data`: {counted(N, 'row')}. The padded `x` keeps one "
            "row for each sequence.",
        ),
    ]
