"""Questions about unpacking: what the last column holds, and how wide the output is."""

from __future__ import annotations

from packviz.compute.record import Trace
from packviz.teach.predictions.facts import MAX_FILMED, Facts, spread
from packviz.teach.predictions.model import Answer, Moment, Prediction, most_telling, slips_beside

__all__ = ["last_column", "unpacked_width"]

FILLER = "`padding_value`, a filler that no cell computed"
FINAL = "its state after its last step"
BOTH = "both directions' states after the whole sequence"
HALF = "the forward state after the whole sequence, but the backward state after one step only"


def last_column(trace: Trace, number: int = 0) -> Prediction | None:
    """Ask what stands at the end of one sequence's row of the output; None where torch refused the lengths."""
    facts = Facts(trace)
    if not facts.packed:
        return None
    sequences = sorted(spread(range(facts.B)), key=lambda b: facts.lengths[b])
    turns = [sequences[i // 2] if i % 2 == 0 else sequences[-1 - i // 2] for i in range(len(sequences))]
    return most_telling([_last_column(facts, b) for b in turns], number)


def unpacked_width(trace: Trace, number: int = 0) -> Prediction | None:  # noqa: ARG001
    """Ask how many time steps the unpacked output has; None where torch refused the lengths."""
    facts = Facts(trace)
    if not facts.packed:
        return None
    width, total, row = _width(facts), trace.total_length, trace.unpacked.output.size(2)
    answer: Answer = (width,)
    rule = (
        f"`total_length={total}` sets the width"
        if total is not None
        else f"Without `total_length` the longest length sets the width, {facts.longest}"
    )
    slips: list[tuple[Answer, str]] = [
        ((facts.columns,), f"{facts.columns} is the width of the padded `x`, which packing forgets. {rule}."),
        ((facts.longest,), f"{facts.longest} is the longest length. But {rule}."),
        ((facts.shortest,), f"{facts.shortest} is the shortest length. {rule}."),
        ((facts.N,), f"{facts.N} is the number of packed rows, those of all sequences together. {rule}."),
        ((facts.B,), f"{facts.B} is the number of sequences, the other axis. {rule}."),
        ((row,), f"{row} is the number of features in each place of the output, the last axis. {rule}."),
        ((width - 1,), f"t = {width - 1} is the last time step. They are counted from 0, so there are {width}."),
    ]
    return Prediction(
        key="unpacked_width",
        prompt=f"How many time steps wide is the output of `pad_packed_sequence` {_called(facts)}?",
        form="numbers",
        answer=answer,
        slips=slips_beside(answer, slips),
        moment=_last_column_filmed(facts, "width"),
        why=f"{rule}{f', not the longest length {facts.longest}' if total not in (None, facts.longest) else ''}.",
        hint=f"The output is a grid again, one row for each sequence, {facts.B} in all.",
    )


def _width(facts: Facts) -> int:
    return facts.trace.unpacked.output.size(1 if facts.trace.padded.batch_first else 0)


def _last_column_filmed(facts: Facts, name: str = "") -> Moment:
    return Moment("unpack", min(_width(facts), MAX_FILMED) - 1, name)


def _called(facts: Facts) -> str:
    total = facts.trace.total_length
    return "without `total_length`" if total is None else f"with `total_length={total}`"


def _last_column(facts: Facts, b: int) -> Prediction:
    name, length, end = facts.letters[b], facts.lengths[b], _width(facts) - 1
    choices = _choices(facts)
    answer = FILLER if length <= end else HALF if HALF in choices else choices[1]
    at_end = f"{name} has length {length}: its last step is t = {length - 1}"
    why = f"{at_end}. " + (_filled(facts, length) if length <= end else _full(answer))
    return Prediction(
        key="last_column",
        prompt=f"What stands in the last column (t = {end}) of the unpacked output, in the row of sequence {name}?",
        form="choice",
        answer=answer,
        slips=slips_beside(answer, [(choice, _reason(facts, b, choice, answer)) for choice in choices]),
        moment=_last_column_filmed(facts),
        why=why,
        hint="",
        choices=choices,
    )


def _choices(facts: Facts) -> tuple[str, ...]:
    on_padding = f"a state that the {facts.cell} computed on a time step after its end"
    if not facts.two_ways:
        return FILLER, FINAL, on_padding
    return (FILLER, BOTH, on_padding) if _width(facts) == 1 else (FILLER, BOTH, HALF, on_padding)


def _filled(facts: Facts, length: int) -> str:
    left = _width(facts) - length
    columns = "last column" if left == 1 else f"last {left} columns"
    return f"The cell computed nothing after it, so `pad_packed_sequence` fills the {columns} of this row."


def _full(answer: str) -> str:
    if answer == HALF:
        return (
            "There the forward half has seen everything. The backward half starts there, and has seen only this step."
        )
    return "So the row is full, and needs no filler."


def _reason(facts: Facts, b: int, choice: str, answer: str) -> str:
    name, length, end = facts.letters[b], facts.lengths[b], _width(facts) - 1
    reaches = f"{name} has length {length}, and its last step, t = {length - 1}, is the last column"
    if choice == FILLER:
        return f"{reaches}. There is nothing to fill in this row."
    if answer == FILLER:
        return _short_reason(facts, choice, f"{name} has length {length}", length, end)
    if choice == BOTH:
        return (
            "The backward half runs from the end to the start: at the last column it has seen one "
            "step only. Its final state stands at t = 0."
        )
    return f"{reaches}. No time step after its end is in the grid, and none is ever computed."


def _short_reason(facts: Facts, choice: str, has: str, length: int, end: int) -> str:
    if choice == FINAL:
        return f"{has}, so that state stands at t = {length - 1}. It is not copied on to t = {end}."
    if choice == BOTH:
        return (
            f"{has}: forward that state stands at t = {length - 1}, backward at t = 0. Neither is copied to t = {end}."
        )
    if choice == HALF:
        return f"{has}, so that is what stands at t = {length - 1}. At t = {end} no cell computed anything for it."
    return (
        f"{has}, and packing takes only so many steps of it to the {facts.cell}. At t = {end} "
        "nothing is computed for it."
    )
