"""Questions about the run, going forward: who is fed at a time step, whose state is final, and when."""

from __future__ import annotations

from packviz.compute.record import Trace
from packviz.teach.predictions.facts import MAX_TYPED, Facts, spread
from packviz.teach.predictions.model import Answer, Moment, Prediction, most_telling, slips_beside, slips_naming
from packviz.text import counted, joined

__all__ = ["alive", "ended", "final_step", "misread"]


def alive(trace: Trace, number: int = 0) -> Prediction | None:
    """Ask which sequences are fed at a time step; None where torch refused, or they are too many to type."""
    facts = Facts(trace)
    if not facts.packed:
        return None
    times = [t for t in range(facts.filmed) if facts.batch_sizes[t] <= MAX_TYPED]
    return most_telling([_alive(facts, t) for t in spread(times)], number)


def ended(trace: Trace, number: int = 0) -> Prediction | None:
    """Ask whose last step a time step is; None where torch refused, or they are too many to type."""
    facts = Facts(trace)
    if not facts.packed:
        return None
    times = [t for t in range(facts.filmed) if len(_ended_at(facts, t)) <= MAX_TYPED]
    somebody_first = sorted(times, key=lambda t: not _ended_at(facts, t))
    return most_telling([_ended(facts, t) for t in spread(somebody_first)], number)


def final_step(trace: Trace, number: int = 0) -> Prediction | None:
    """Ask at which time step the state of one sequence is final; None where torch refused, or no movie shows it."""
    facts = Facts(trace)
    if not facts.packed:
        return None
    shown = [b for b in range(facts.B) if facts.lengths[b] <= facts.filmed]
    return most_telling([_final_step(facts, b) for b in spread(shown)], number)


def _live_at(facts: Facts, t: int) -> frozenset[int]:
    return frozenset(facts.trace.layers[-1][0].step(t).live)


def _ended_at(facts: Facts, t: int) -> frozenset[int]:
    return frozenset(facts.trace.layers[-1][0].step(t).ended)


def misread(facts: Facts, t: int) -> list[tuple[Answer, str]]:
    """Return what is answered, in either direction, by who reads the sizes or the lengths wrong at a time step."""
    size, lengths, counted_from_0 = facts.batch_sizes[t], facts.lengths, "because time steps are counted from 0"
    return [
        (
            facts.letters[:size],
            f"`batch_sizes[{t}]` is {size}, but it counts from the top of the sorted batch, not from "
            "A on: the longest are fed.",
        ),
        (
            facts.those(lambda b: lengths[b] >= t),
            f"A length of {t} is too short: its last step is t = {t - 1}, {counted_from_0}.",
        ),
        (
            facts.those(lambda b: lengths[b] > t + 1),
            f"A length of {t + 1} is enough: its last step is t = {t}, {counted_from_0}.",
        ),
    ]


def _alive(facts: Facts, t: int) -> Prediction:
    live = _live_at(facts, t)
    answer, size = facts.with_letters(live), len(live)
    over = [b for b in range(facts.B) if b not in live]
    slips: list[tuple[Answer, str]] = [
        (
            facts.with_letters(over),
            f"For {joined(facts.with_letters(over))} there is no step at t = {t}: only lengths above {t} reach it.",
        ),
        *misread(facts, t),
        (facts.letters, f"Not all of them are long enough: only lengths above {t} reach t = {t}."),
    ]
    longer = "is longer" if size == 1 else "are longer"
    return Prediction(
        key="alive",
        prompt=f"Which sequences are fed to the {facts.cell} at t = {t}? Type their letters, or none.",
        form="letters",
        answer=answer,
        slips=slips_beside(answer, slips_naming(slips)),
        moment=Moment("run", t),
        why=f"{joined(answer)} {longer} than {t}, so `batch_sizes[{t}]` is {size}: "
        f"{counted(size, 'row')} at this time step.",
        hint=f"Time steps are counted from 0: at t = {t} only lengths above {t} are fed.",
        letters=facts.letters,
    )


def _ended(facts: Facts, t: int) -> Prediction:
    now, live, lengths = _ended_at(facts, t), _live_at(facts, t), facts.lengths
    answer = facts.with_letters(now)
    length = f"Time steps are counted from 0: t = {t} is the last step of a sequence of length {t + 1}"
    over = [b for b in range(facts.B) if b not in live]
    on = [b for b in live if b not in now]
    why = f"{length}. {facts.have_length(t + 1)}"
    slips: list[tuple[Answer, str]] = [
        (facts.with_letters(on), f"The run goes on with {joined(facts.with_letters(on))} at t = {t + 1}. {length}."),
        (facts.those(lambda b: lengths[b] == t), f"Length {t} ends one step earlier, at t = {t - 1}. {length}."),
        (facts.those(lambda b: lengths[b] == t + 2), f"Length {t + 2} takes one more step after t = {t}. {length}."),
        (
            facts.with_letters(over),
            f"The last step of {joined(facts.with_letters(over))} came before t = {t}. {length}.",
        ),
        (facts.those(lambda b: lengths[b] <= t + 1), f"Some of these took their last step before t = {t}. {length}."),
        (facts.with_letters(live), f"All of these are fed at t = {t}, but not all of them end there. {length}."),
    ]
    way = ", going forward" if facts.two_ways else ""
    return Prediction(
        key="ended",
        prompt=f"Which sequences get their final state exactly at t = {t}{way}? Type their letters, or none.",
        form="letters",
        answer=answer,
        slips=slips_beside(answer, [*slips_naming(slips), ((), why)]),
        moment=Moment("run", t),
        why=why,
        hint=f"{length}.",
        letters=facts.letters,
    )


def _final_step(facts: Facts, b: int) -> Prediction:
    name, length, last = facts.letters[b], facts.lengths[b], facts.longest - 1
    t = facts.last_steps(0)[b]
    answer: Answer = (t,)
    counts = f"{name} has length {length} and time steps are counted from 0"
    slips: list[tuple[Answer, str]] = [
        ((length,), f"{counts}, so its last step is t = {length - 1}, not t = {length}."),
        (
            (last,),
            f"t = {last} is the last step of the longest sequence. {name} is not fed any more by "
            f"then, and keeps its state of t = {t}.",
        ),
        (
            (facts.columns - 1,),
            f"t = {facts.columns - 1} is the last column of the padded grid, but the run does not come that far.",
        ),
        ((length - 2,), f"{counts}, so after t = {length - 2} it takes one more step."),
    ]
    way = ", going forward" if facts.two_ways else ""
    return Prediction(
        key="final_step",
        prompt=f"At which time step t does sequence {name} get its final state{way}?",
        form="numbers",
        answer=answer,
        slips=slips_beside(answer, [slip for slip in slips if slip[0] != (-1,)]),
        moment=Moment("run", t),
        why=f"{counts}, so its last step is t = {t}. This state is what `h_n` holds for it{way}.",
        hint=f"{counts}: 0 is its first step.",
    )
