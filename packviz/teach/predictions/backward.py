"""Questions about the run of the backward direction: who is fed at a time step, who joins in, and where it all ends."""

from __future__ import annotations

from packviz.compute.record import Trace
from packviz.compute.recurrence import Step
from packviz.teach.predictions.facts import MAX_TYPED, Facts, spread
from packviz.teach.predictions.model import Answer, Moment, Prediction, most_telling, slips_beside, slips_naming
from packviz.teach.predictions.run import misread
from packviz.text import counted, joined

__all__ = ["fed_backward", "final_backward", "joins_backward"]

SAME_NUMBERS = "Going backward changes the order of the steps, not their numbers: t = 0 is still the first column."


def fed_backward(trace: Trace, number: int = 0) -> Prediction | None:
    """Ask which sequences are fed at a time step; None where nothing ran backward, or they are too many to type."""
    facts = Facts(trace)
    if not facts.packed or not facts.two_ways:
        return None
    times = [t for t in range(facts.filmed) if facts.batch_sizes[t] <= MAX_TYPED]
    return most_telling([_fed(facts, t) for t in spread(times)], number)


def joins_backward(trace: Trace, number: int = 0) -> Prediction | None:
    """Ask whose first step a time step is; None where nothing ran backward, or they are too many to type."""
    facts = Facts(trace)
    if not facts.packed or not facts.two_ways:
        return None
    times = [t for t in range(facts.filmed) if len(_step(facts, t).began) <= MAX_TYPED]
    somebody_first = sorted(times, key=lambda t: not _step(facts, t).began)
    return most_telling([_joins(facts, t) for t in spread(somebody_first)], number)


def final_backward(trace: Trace, number: int = 0) -> Prediction | None:
    """Ask at which time step the state of one sequence is final; None where nothing ran backward."""
    facts = Facts(trace)
    if not facts.packed or not facts.two_ways:
        return None
    return most_telling([_final(facts, b) for b in spread(range(facts.B))], number)


def _step(facts: Facts, t: int) -> Step:
    return facts.trace.layers[-1][1].step(facts.longest - 1 - t)


def _fed(facts: Facts, t: int) -> Prediction:
    live = _step(facts, t).live
    answer, size, mirrored = facts.with_letters(live), len(live), facts.longest - 1 - t
    over = facts.those(lambda b: b not in live)
    only = f"at t = {t} only lengths above {t} are fed"
    slips: list[tuple[Answer, str]] = [
        (over, f"{joined(over)} {'joins' if len(over) == 1 else 'join'} in later, going backward: {only}."),
        (facts.with_letters(_step(facts, mirrored).live), f"These are fed at t = {mirrored}. {SAME_NUMBERS}"),
        *misread(facts, t),
        (facts.letters, f"Going backward they do not all begin together: {only}."),
    ]
    longer = "is longer" if size == 1 else "are longer"
    return Prediction(
        key="fed_backward",
        prompt=f"Going backward, which sequences are fed to the {facts.cell} at t = {t}? Type their letters, or none.",
        form="letters",
        answer=answer,
        slips=slips_beside(answer, slips_naming(slips)),
        moment=Moment("run", t),
        why=f"{joined(answer)} {longer} than {t}, so `batch_sizes[{t}]` is {size}: {counted(size, 'row')} at this "
        "time step, the same rows as going forward.",
        hint=f"Backward as forward, {only}.",
        letters=facts.letters,
    )


def _joins(facts: Facts, t: int) -> Prediction:
    step, lengths, mirrored = _step(facts, t), facts.lengths, facts.longest - 1 - t
    answer = facts.with_letters(step.began)
    length = f"Going backward, a sequence of length {t + 1} joins in at t = {t}, its own last time step"
    on, over = facts.those(lambda b: lengths[b] > t + 1), facts.those(lambda b: lengths[b] <= t)
    why = f"{length}. {facts.have_length(t + 1)}"
    slips: list[tuple[Answer, str]] = [
        (on, f"{joined(on)} joined in before, going backward: the longest begin first. {length}."),
        (facts.those(lambda b: lengths[b] == t), f"Length {t} joins in one step later, at t = {t - 1}. {length}."),
        (facts.those(lambda b: lengths[b] == t + 2), f"Length {t + 2} joined in before, at t = {t + 1}. {length}."),
        (over, f"The run has not come to {joined(over)} yet: going backward, the shortest join in last. {length}."),
        (
            facts.with_letters(_step(facts, mirrored).began),
            f"These join in at t = {mirrored}. {SAME_NUMBERS}",
        ),
        (facts.letters, f"Packed sequences do not all begin together. {length}."),
        (
            facts.with_letters(step.live),
            f"All of these are fed at t = {t}, but not all of them join in there. {length}.",
        ),
        (facts.those(lambda b: lengths[b] <= t + 1), f"Some of these are shorter, and join in later. {length}."),
    ]
    return Prediction(
        key="joins_backward",
        prompt=f"Going backward, which sequences join in with their `h_0` exactly at t = {t}? "
        "Type their letters, or none.",
        form="letters",
        answer=answer,
        slips=slips_beside(answer, [*slips_naming(slips), ((), why)]),
        moment=Moment("run", t),
        why=why,
        hint=f"{length}.",
        letters=facts.letters,
    )


def _final(facts: Facts, b: int) -> Prediction:
    name, length, last = facts.letters[b], facts.lengths[b], facts.longest - 1
    t = facts.last_steps(1)[b]
    answer: Answer = (t,)
    waits = facts.longest - length
    slips: list[tuple[Answer, str]] = [
        (
            (length - 1,),
            f"Going backward, t = {length - 1} is the first step of {name}: there it joins in with its `h_0`.",
        ),
        ((last,), f"t = {last} is where the run begins, going backward. From there it counts down to t = {t}."),
        (
            (facts.columns - 1,),
            f"t = {facts.columns - 1} is the last column of the padded grid. Going backward the run ends at t = {t}.",
        ),
        (
            (length,),
            f"{length} is the length of {name}. Going backward its steps count down from t = {length - 1} to t = {t}.",
        ),
        (
            (waits,),
            f"{counted(waits, 'time step')} {'passes' if waits == 1 else 'pass'} before {name} joins in. "
            f"Its state is final at the end of the run, at t = {t}.",
        ),
        ((1,), f"Time steps are counted from 0: after t = 1, going backward, comes t = {t}."),
    ]
    begins = f"begins at t = {length - 1} and ends at t = {t}" if length > 1 else f"has one step, t = {t}"
    return Prediction(
        key="final_backward",
        prompt=f"Going backward, at which time step t does sequence {name} get its final state?",
        form="numbers",
        answer=answer,
        slips=slips_beside(answer, slips),
        moment=Moment("run", t),
        why=f"Going backward {name} {begins}. This state is what `h_n` holds for it in the backward direction.",
        hint=f"Going backward the run takes t = {last} first, and then counts down.",
    )
