"""Results of the trainings: accuracy with its spread, the conclusions it supports, and everything as CSV."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from io import StringIO
from math import hypot
from statistics import fmean, stdev
from typing import Any

from packviz.lab import sentence
from packviz.lab.training.experiment import READS, Experiment
from packviz.lab.training.run import EpochResult

__all__ = ["COLUMNS", "Outcome", "both_spreads", "conclusion", "shows_difference", "summary", "table", "to_csv"]

ENOUGH_SEEDS = 3  # fewer give no usable estimate of the spread
BEYOND = 2  # times the combined spread; if both were the same, three seeds each would exceed it in 1 of 39 trials
COLUMNS = (
    *("task", "cell", "hidden_size", "readout", "bidirectional", "extra_padding", "batch_size", "lr"),
    *("seed", "epoch", "epochs", "train_loss", "test_accuracy", "seconds"),
)
SETTINGS = {"task": "{}", "cell": "{}", "hidden_size": "H {}", "epochs": "{} epochs"}
SETTINGS |= {"batch_size": "batches of {}", "lr": "lr {:g}"}


@dataclass(frozen=True)
class Outcome:
    """How an experiment ended."""

    experiment: Experiment
    seeds: tuple[int, ...]  # of each training that completed all its epochs
    accuracies: tuple[float, ...]  # percent of the test set
    seconds: float  # mean time of one seed
    majority_baseline: float  # percent of the test set in its most frequent class

    @property
    def mean(self) -> float:
        """Return the mean accuracy over the seeds, in percent."""
        return fmean(self.accuracies)

    @property
    def spread(self) -> float | None:
        """Return the standard deviation over the seeds, in percentage points (with n - 1); None for one seed."""
        return stdev(self.accuracies) if len(self.accuracies) > 1 else None


def both_spreads(one: Outcome, other: Outcome) -> float | None:
    """Return the combined standard deviation over the seeds, in percentage points; None for one seed."""
    return None if one.spread is None or other.spread is None else hypot(one.spread, other.spread)


def shows_difference(one: Outcome, other: Outcome) -> bool:
    """Return whether the means differ by more than twice the combined spread of at least three seeds."""
    spread, seeds = both_spreads(one, other), min(len(one.seeds), len(other.seeds))
    return spread is not None and seeds >= ENOUGH_SEEDS and abs(one.mean - other.mean) > BEYOND * spread


def summary(results: Iterable[EpochResult]) -> tuple[Outcome, ...]:
    """Return the outcome of every experiment with at least one finished seed, in starting order.

    A training stopped before its last epoch does not count.
    """
    ended: dict[Experiment, list[EpochResult]] = {}
    for progress in results:
        if progress.finished:
            ended.setdefault(progress.experiment, []).append(progress)
    done = []
    for one, runs in ended.items():
        seeds, accuracies, seconds = zip(*((each.seed, each.test_accuracy, each.seconds) for each in runs), strict=True)
        done.append(Outcome(one, seeds, accuracies, fmean(seconds), one.data.majority_baseline))
    return tuple(done)


def by_padding(outcomes: Iterable[Outcome], readout: str) -> list[Outcome]:
    """Return the outcomes of one readout, in order of increasing extra padding."""
    found = [outcome for outcome in outcomes if outcome.experiment.readout == readout]
    return sorted(found, key=lambda outcome: outcome.experiment.extra_padding)


def table(outcomes: Iterable[Outcome]) -> list[dict[str, str | int | float | None]]:
    """Return a row per outcome, with names and units as keys: accuracy in percent, spread in percentage points."""
    return [
        {
            "task": outcome.experiment.task,
            "cell": outcome.experiment.cell,
            "directions": 2 if outcome.experiment.bidirectional else 1,
            "readout": READS[outcome.experiment.readout],
            "extra pads": outcome.experiment.extra_padding,
            "seeds": len(outcome.seeds),
            "mean (%)": outcome.mean,
            "standard deviation (points)": outcome.spread,
            "worst seed (%)": min(outcome.accuracies),
            "best seed (%)": max(outcome.accuracies),
            "seconds a seed": outcome.seconds,
        }
        for outcome in outcomes
    ]


def to_csv(results: Iterable[EpochResult]) -> str:
    """Return a header and a line per record: its settings, loss in nats, accuracy in percent, time in seconds."""
    text = StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({**asdict(progress.experiment), **asdict(progress)} for progress in results)
    return text.getvalue()


def conclusion(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Return sentences on what the outcomes show: each readout against packed, and each amount of padding against none.

    Only experiments that differ in this one setting are compared. A difference is claimed if it is more than twice
    the combined spread of at least three seeds; otherwise the sentence says that none is shown.
    """
    every = [outcome.experiment for outcome in outcomes]
    return (
        *_beside(outcomes, "readout", "packed", every),
        *_beside(outcomes, "extra_padding", 0, every),
        *(
            sentence(
                "training.guessing_one" if len(outcome.seeds) == 1 else "training.guessing",
                label=label(outcome.experiment, every),
                baseline=f"{outcome.majority_baseline:.1f}",
            )
            for outcome in outcomes
            if max(outcome.accuracies) <= outcome.majority_baseline
        ),
    )


def label(one: Experiment, every: Sequence[Experiment], *, padding: bool = True) -> str:
    """Return what distinguishes the experiment: each setting that is not the same for all, then its name."""
    differing = [name for name in SETTINGS if len({getattr(other, name) for other in every}) > 1]
    head = [SETTINGS[name].format(getattr(one, name)).replace("_", " ") for name in differing]
    return ", ".join([*head, one.name if padding else replace(one, extra_padding=0).name])


def _beside(outcomes: Sequence[Outcome], setting: str, ground: Any, every: Sequence[Experiment]) -> Iterator[str]:
    """Yield a sentence for each outcome with a counterpart that differs only in `setting`, which is `ground`."""
    grounds = {replace(o.experiment, seeds=(0,)): o for o in outcomes if getattr(o.experiment, setting) == ground}
    for outcome in outcomes:
        partner = grounds.get(replace(outcome.experiment, seeds=(0,), **{setting: ground}))
        if partner is not None and partner is not outcome:
            than = READS[partner.experiment.readout] if setting == "readout" else "without extra pads"
            yield sentence(
                f"training.compared_{_difference(outcome, partner)}",
                label=label(outcome.experiment, every),
                than=than,
                seeds=min(len(outcome.seeds), len(partner.seeds)),
                mean=f"{outcome.mean:.1f}",
                other=f"{partner.mean:.1f}",
                points=f"{abs(outcome.mean - partner.mean):.1f}",
                spread=f"{both_spreads(outcome, partner) or 0:.1f}",
            )


def _difference(one: Outcome, other: Outcome) -> str:
    """Return how the accuracy of one differs from that of the other, as the table of sentences names it."""
    ours, theirs = ({*zip(each.seeds, each.accuracies, strict=True)} for each in (one, other))
    if min(len(one.seeds), len(other.seeds)) < ENOUGH_SEEDS:
        return "too_few"
    if ours == theirs or not shows_difference(one, other):
        return "same" if ours == theirs else "none"
    return "higher" if one.mean > other.mean else "lower"
