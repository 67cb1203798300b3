"""Questions about batch_sizes: all of them, or one."""

from __future__ import annotations

from itertools import accumulate

from packviz.compute.record import Trace
from packviz.teach.predictions.facts import MAX_TIMES, Facts, spread
from packviz.teach.predictions.model import Answer, Moment, Prediction, most_telling, slips_beside
from packviz.text import counted

__all__ = ["batch_size", "batch_sizes"]


def batch_sizes(trace: Trace, number: int = 0) -> Prediction | None:  # noqa: ARG001
    """Ask for all of batch_sizes; None where it is too long to type, torch refused the lengths, or they are the same.

    Lengths that sorted are batch_sizes (3, 2, 1) cannot tell the most common mistake from the answer.
    """
    facts = Facts(trace)
    if not facts.packed or facts.longest > MAX_TIMES or facts.batch_sizes == sorted(facts.lengths, reverse=True):
        return None
    sizes = tuple(facts.batch_sizes)
    counts = f"`batch_sizes[t]` is how many sequences are longer than t: here {counted(sizes[0], 'sequence')} at t = 0"
    last = f", and {sizes[-1]} at t = {len(sizes) - 1}" if len(sizes) > 1 else ""
    return Prediction(
        key="batch_sizes",
        prompt="Type `batch_sizes`, one number for each packed time step.",
        form="numbers",
        answer=sizes,
        slips=slips_beside(sizes, _other_sizes(facts, sizes)),
        moment=Moment("pack", name="margins"),
        why=f"{counts}{last}. They add up to N = {facts.N}, the number of packed rows.",
        hint=f"Count for each time step t from 0 to {facts.longest - 1} the sequences that are longer than t.",
    )


def batch_size(trace: Trace, number: int = 0) -> Prediction | None:
    """Ask for one entry of batch_sizes that is no length of the same number; None where torch refused the lengths.

    None, too, where there is no such entry.
    """
    facts = Facts(trace)
    if not facts.packed:
        return None
    telling = [t for t in range(facts.filmed) if facts.batch_sizes[t] not in _lengths_at(facts, t)]
    return most_telling([_batch_size(facts, t) for t in spread(telling)], number)


def _other_sizes(facts: Facts, sizes: tuple[int, ...]) -> list[tuple[Answer, str]]:
    counts = f"`batch_sizes` counts the sequences at each time step: {sizes[0]} of them at t = 0"
    ends, starts = tuple(accumulate(sizes)), tuple(facts.offsets)
    tokens = tuple(facts.trace.padded.mask.sum(0).tolist())
    free = tuple(facts.B - size for size in sizes)
    left = bool(facts.trace.packed_is_pad.any())
    seen = (
        "These are the real tokens in each column. torch looks at the lengths alone, and takes "
        "each row from its first column on."
        if left
        else f"The longest length is {facts.longest}: columns that no sequence reaches are not packed, "
        "so they have no entry."
    )
    return [
        (tuple(facts.lengths), f"These are the lengths, one number for each sequence. {counts}."),
        (
            tuple(sorted(facts.lengths, reverse=True)),
            f"These are the sorted lengths, one number for each sequence. {counts}.",
        ),
        (tuple(sorted(facts.lengths)), f"These are the lengths, the shortest first. {counts}."),
        (sizes[::-1], f"This runs from the last time step to the first. {counts}, and later never more."),
        (ends, f"These are running totals: {ends[-1]} at the end is N, the number of all packed rows. {counts}."),
        (starts, f"These are the packed rows at which the time steps begin. {counts}."),
        (tokens, seen),
        (free, f"These count the sequences that have ended at each time step. {counts}."),
        (
            (facts.B,) * len(sizes),
            f"Not all {facts.B} sequences last that long: a sequence that has ended is counted no more.",
        ),
    ]


def _batch_size(facts: Facts, t: int) -> Prediction:
    lengths, size = facts.lengths, facts.batch_sizes[t]
    answer: Answer = (size,)
    means = f"`batch_sizes[{t}]` is how many sequences are longer than {t}"
    slips: list[tuple[Answer, str]] = [
        *_one_length(facts, t, means),
        (
            (sum(length >= t for length in lengths),),
            f"You counted lengths of at least {t}. A sequence of length {t} ends at t = {t - 1}, so "
            "it is not among them.",
        ),
        (
            (sum(length > t + 1 for length in lengths),),
            f"You counted lengths above {t + 1}. Time steps are counted from 0: a length of {t + 1} reaches t = {t}.",
        ),
        ((facts.B - size,), f"{facts.B - size} of the sequences have ended before t = {t}. {means}."),
        ((facts.offsets[t],), f"{facts.offsets[t]} is the packed row at which t = {t} begins. {means}."),
        ((facts.B,), f"There are {facts.B} sequences in all, but not each of them is longer than {t}."),
    ]
    return Prediction(
        key="batch_size",
        prompt=f"What is `batch_sizes[{t}]`?",
        form="numbers",
        answer=answer,
        slips=slips_beside(answer, slips),
        moment=Moment("pack", t),
        why=f"{_share(facts, size)} longer than {t}.",
        hint=f"Count the sequences that are longer than {t}.",
    )


def _lengths_at(facts: Facts, t: int) -> tuple[int, ...]:
    """Return the lengths that may be taken for entry t of batch_sizes: the t-th as they came, and sorted."""
    if facts.B > 1 and facts.shortest == facts.longest:
        return (facts.longest,)
    return (facts.lengths[t], sorted(facts.lengths, reverse=True)[t]) if t < facts.B else ()


def _one_length(facts: Facts, t: int, means: str) -> list[tuple[Answer, str]]:
    match _lengths_at(facts, t):
        case (length,):
            return [((length,), f"Every length is {length}. {means}.")]
        case (length, in_order):
            return [
                ((length,), f"{length} is the length of sequence {facts.letters[t]}. {means}."),
                ((in_order,), f"{in_order} is a length, that of row {t} after the sort. {means}."),
            ]
    return []


def _share(facts: Facts, size: int) -> str:
    if size == facts.B:
        return f"{size}: every sequence is"
    return f"{size} of the {facts.B} sequences {'is' if size == 1 else 'are'}"
