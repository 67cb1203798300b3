"""What the trainings came to: the final accuracy of every seed, mean and spread, and all results as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from io import StringIO
from statistics import fmean, stdev

from packviz.lab.training.experiment import Experiment
from packviz.lab.training.run import Progress, task_data

__all__ = ["COLUMNS", "Outcome", "summary", "table", "to_csv"]


@dataclass(frozen=True)
class Outcome:
    """Hold how an experiment ended.

    seeds, accuracies  of each training that went through all its epochs; percent of the test set
    seconds            mean time of one seed
    majority_baseline  percent of the test set that is in its commonest class
    """

    experiment: Experiment
    seeds: tuple[int, ...]
    accuracies: tuple[float, ...]
    seconds: float
    majority_baseline: float

    @property
    def mean(self) -> float:
        """Return the mean accuracy over the seeds, in percent."""
        return fmean(self.accuracies)

    @property
    def spread(self) -> float | None:
        """Return the standard deviation over the seeds, in points (n - 1 in its denominator); None for one seed."""
        return stdev(self.accuracies) if len(self.accuracies) > 1 else None

    @property
    def least(self) -> float:
        """Return the accuracy of the worst seed, in percent."""
        return min(self.accuracies)

    @property
    def most(self) -> float:
        """Return the accuracy of the best seed, in percent."""
        return max(self.accuracies)


def summary(results: Iterable[Progress]) -> tuple[Outcome, ...]:
    """Return the outcome of every experiment of which at least one seed has finished, in the order of their start.

    A training that was stopped before its last epoch does not count.
    """
    ended: dict[Experiment, dict[int, Progress]] = {}
    for progress in results:
        if progress.finished:
            ended.setdefault(progress.experiment, {})[progress.seed] = progress
    return tuple(_outcome(experiment, seeds) for experiment, seeds in ended.items())


def table(outcomes: Iterable[Outcome]) -> list[dict[str, str | int | float | None]]:
    """Return a row for each outcome, names and units in its keys: accuracy in percent, spread in points."""
    return [
        {
            "task": outcome.experiment.task,
            "cell": outcome.experiment.cell,
            "directions": 2 if outcome.experiment.bidirectional else 1,
            "readout": outcome.experiment.readout,
            "extra pads": outcome.experiment.extra_padding,
            "seeds": len(outcome.seeds),
            "mean (%)": outcome.mean,
            "standard deviation (points)": outcome.spread,
            "worst seed (%)": outcome.least,
            "best seed (%)": outcome.most,
            "seconds a seed": outcome.seconds,
        }
        for outcome in outcomes
    ]


def _outcome(experiment: Experiment, ended: dict[int, Progress]) -> Outcome:
    accuracies = tuple(progress.test_accuracy for progress in ended.values())
    seconds = fmean(progress.seconds for progress in ended.values())
    return Outcome(experiment, tuple(ended), accuracies, seconds, task_data(experiment).majority_baseline)


COLUMNS = (
    "task",
    "cell",
    "hidden_size",
    "readout",
    "bidirectional",
    "extra_padding",
    "batch_size",
    "lr",
    "seed",
    "epoch",
    "epochs",
    "train_loss",
    "test_accuracy",
    "seconds",
)


def to_csv(results: Iterable[Progress]) -> str:
    """Return a head and a line for every record: its settings, loss in nats, accuracy in percent, time in seconds."""
    text = StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({**asdict(progress.experiment), **asdict(progress)} for progress in results)
    return text.getvalue()
