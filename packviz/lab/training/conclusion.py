"""What may be said after the trainings: no more than the spread over the seeds allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import Any

from packviz.lab.training.experiment import Experiment
from packviz.lab.training.outcome import Outcome

__all__ = ["Difference", "conclusion", "difference"]

ENOUGH_SEEDS = 3  # fewer say next to nothing about their own spread
BEYOND = 2  # times the combined spread; were both the same, three seeds each would get there in 1 of 39 trials
_SETTINGS = ("task", "cell", "hidden_size", "epochs", "batch_size", "lr")


@dataclass(frozen=True)
class Difference:
    """Hold how far an outcome is from another one, and whether the seeds can show that it is not chance.

    points     mean accuracy less the mean accuracy of the other, in points
    spread     both standard deviations together, the root of the sum of their squares, in points; None for one seed
    seeds      how many seeds, of the outcome that has fewer
    same       whether every seed ended with the very same accuracy in both
    """

    points: float
    spread: float | None
    seeds: int
    same: bool

    @property
    def shown(self) -> bool:
        """Return whether there are three seeds or more, and the means are farther apart than twice the spread."""
        return self.spread is not None and self.seeds >= ENOUGH_SEEDS and abs(self.points) > BEYOND * self.spread


def difference(one: Outcome, other: Outcome) -> Difference:
    """Return how far `one` is from `other`."""
    spreads = (one.spread, other.spread)
    spread = None if None in spreads else hypot(*(spread for spread in spreads if spread is not None))
    same = dict(zip(one.seeds, one.accuracies, strict=True)) == dict(zip(other.seeds, other.accuracies, strict=True))
    return Difference(one.mean - other.mean, spread, min(len(one.seeds), len(other.seeds)), same)


def conclusion(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Return what the outcomes show, in sentences: each readout beside packed, and each amount of padding beside none.

    Only experiments that differ in this one setting are compared. A difference is claimed where it is more than twice
    the combined spread of at least three seeds; otherwise the sentence says that nothing is shown.
    """
    differing = [name for name in _SETTINGS if len({getattr(o.experiment, name) for o in outcomes}) > 1]
    return (
        *_beside(outcomes, "readout", "packed", differing),
        *_beside(outcomes, "extra_padding", 0, differing),
        *(_guessing(outcome, differing) for outcome in outcomes if outcome.most <= outcome.majority_baseline),
    )


def _beside(outcomes: Sequence[Outcome], setting: str, ground: Any, differing: list[str]) -> Iterator[str]:
    """Yield a sentence for each outcome that has a partner with `ground`, and all other settings the same."""
    grounds = {_alike(o.experiment): o for o in outcomes if getattr(o.experiment, setting) == ground}
    for outcome in outcomes:
        partner = grounds.get(_alike(replace(outcome.experiment, **{setting: ground})))
        if partner is not None and partner is not outcome:
            yield _sentence(outcome, partner, differing, by_readout=setting == "readout")


def _alike(experiment: Experiment) -> Experiment:
    """Return the experiment without its seeds: more seeds are no other setting."""
    return replace(experiment, seeds=(0,))


def _sentence(one: Outcome, other: Outcome, differing: list[str], *, by_readout: bool) -> str:
    found, name = difference(one, other), _name(one, differing)
    than = other.experiment.readout if by_readout else "itself without extra pads"
    beside = f"{one.mean:.1f} % and {other.mean:.1f} %"
    if found.seeds < ENOUGH_SEEDS:
        few = "1 seed is too few" if found.seeds == 1 else f"{found.seeds} seeds are too few"
        return (
            f"{name}: {one.mean:.1f} %, beside {other.mean:.1f} % for {than}. {few} to tell a difference from chance."
        )
    if found.same:
        return f"{name}: the same accuracy as {than} in each of the {found.seeds} seeds ({one.mean:.1f} %)."
    if found.shown:
        more = "more" if found.points > 0 else "less"
        return f"{name}: {abs(found.points):.1f} points {more} than {than} ({beside}, spread {found.spread:.1f})."
    return f"{name}: no difference from {than} that {found.seeds} seeds can show ({beside}, spread {found.spread:.1f})."


def _guessing(outcome: Outcome, differing: list[str]) -> str:
    seeds = "its one seed does not beat" if len(outcome.seeds) == 1 else "no seed beats"
    return f"{_name(outcome, differing)}: {seeds} the majority-class baseline ({outcome.majority_baseline:.1f} %)."


def _name(outcome: Outcome, differing: list[str]) -> str:
    """Return the experiment's name, after whatever else tells it from the others."""
    settings = [f"{name} {getattr(outcome.experiment, name)}" for name in differing]
    return ", ".join([*settings, outcome.experiment.name])
